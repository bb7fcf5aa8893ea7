import { sql } from 'kysely';
import type { Belief } from '../../domain/reports/authentication.ts';

/*
 * What `domain/reports/authentication.ts` says of a report, in queries of reports. Two are conditions of indexes, which the engines
 * use when the texts are the same: migrations have texts of their own, which stay as they were released, and a test compares both.
 */

/** Nobody authenticated it, or it is disputed; null where there is no doubt. `toTrust` is 0. */
export const IS_UNPROVEN = sql<boolean>`doubt in ('unproven', 'disputed')`;

/** Its reporter is new: `toTrust` is 1. */
export const IS_NEW = sql<boolean>`doubt = 'new'`;

/** It is of no established reporter, nor a file: `toTrust` is less than 2. */
export const IS_DOUBTFUL = sql<boolean>`doubt is not null`;

/** What `toBelief` finds. */
export const BELIEF = sql<Belief>`case when doubt = 'disputed' then 'disputed'
  when ${IS_DOUBTFUL} then 'other' else 'established' end`;
