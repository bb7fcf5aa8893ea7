import { sql } from 'kysely';

/*
 * Conditions of queries that are those of an index: the engines use it when the texts are the same. Migrations have texts of their
 * own, which stay as they were released, and a test compares both.
 */

/** A report of a new reporter (domain/reports/authentication.ts). */
export const IS_NEW = sql<boolean>`authenticated like 'new %'`;

/** A report of no established reporter, nor of a file. */
export const IS_DOUBTFUL = sql<boolean>`(authenticated in ('', 'disputed') or ${IS_NEW})`;

/** A report with the warning `repeated_content` (domain/reports/warning-texts.ts). */
export const IS_REPEATED = sql<boolean>`warnings like '%"repeated_content"%'`;
