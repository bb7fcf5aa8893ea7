import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { DayRange } from '../../domain/instant.ts';
import { toAddressKey } from '../../domain/sources/address-key.ts';
import { addDay, type DaySources } from '../../domain/sources/day-sources.ts';
import { createMailResults, type MailResults } from '../../domain/sources/mail-results.ts';
import { isIntact, isKept, unpackSources } from '../../domain/sources/packed-sources.ts';
import type { KeyedSum } from '../../domain/sources/source-sums.ts';
import { askAll, type Reader } from '../engine/reader.ts';
import type { DomainOfAccount } from '../lists/heads.ts';
import { type DataDay, daysOf, sumPatterns } from './days.ts';
import { type Marks, marksOf, toMarks } from './marks.ts';
import { computeOnce, type KeptSums, readRange } from './summed-range.ts';

/** What says who sent: what reporters said of an address's mail, by pattern, and its mark. */
export interface MailOfSenders {
  readonly findPatterns: (address: string) => ReadonlyMap<string, number> | undefined;
  readonly marks: Marks;
}

export interface MailOfDays extends MailOfSenders {
  readonly sources: DaySources;
  /** How many days had reports, whose sources are kept. */
  readonly days: number;
}

interface MailQuery {
  readonly domainId: string;
  readonly range: DayRange;
}

/** All that is known of a domain's mail of some days: for a month at most, because each day is unpacked as a whole. */
export async function readMail(reader: Reader, query: MailQuery): Promise<MailOfDays> {
  const { days, marks } = await readDays(reader, query);
  const sources: DaySources = new Map();
  for (const { sources: packed } of days) {
    // What is damaged is repaired by the pages of sources.
    if (isIntact(packed)) addDay(sources, unpackSources(packed));
    await yieldToOthers();
  }
  const findPatterns = (address: string) => sources.get(toAddressKey(address))?.patterns;
  return {
    sources,
    findPatterns,
    days: days.filter((one) => isKept(one.sources)).length,
    marks,
  };
}

export interface SummedMail {
  /** What each address sent. */
  readonly sources: readonly KeyedSum[];
  readonly marks: Marks;
  /** That of the domain's reports. */
  readonly version: string;
  readonly findResults: () => Promise<MailResults>;
}

/** A domain's mail of some days, in a tenth of the time of all that is known of each address. */
export async function readSummedMail(
  reader: Reader,
  scope: DomainOfAccount,
  range: DayRange,
  kept?: KeptSums,
): Promise<SummedMail> {
  const summed = await readRange(reader, scope, range, kept);
  const { sums: sources, marks, version, days } = summed;
  const findResults = () => computeOnce(summed, 'results', () => addUpResults(days));
  return { sources, marks, version, findResults };
}

async function addUpResults(days: readonly Pick<DataDay, 'sources'>[]): Promise<MailResults> {
  const results = createMailResults();
  for (const { sources } of days) {
    results.add(sources);
    await yieldToOthers();
  }
  return results.end();
}

/** What says who sends from some addresses, by the mail of some days. */
export async function readSenders(
  reader: Reader,
  query: MailQuery,
  addresses: readonly string[],
): Promise<MailOfSenders> {
  const { days, marks } = await readDays(reader, query);
  const patterns = await sumPatterns(days, addresses);
  return { findPatterns: (address) => patterns.get(toAddressKey(address)), marks };
}

async function readDays(reader: Reader, { domainId, range }: MailQuery) {
  const [days, marks] = await reader.readPlan(() =>
    askAll(daysOf({ domainId, ...range }), marksOf({ domainId })),
  );
  return { days, marks: toMarks(marks) };
}
