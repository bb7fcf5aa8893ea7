import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Day } from '../../domain/instant.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import { eachSource } from '../../domain/sources/day-sources.ts';
import type { Counts } from '../../domain/sources/source.ts';
import { prepareQuery } from '../engine/prepared.ts';

/** A day of a domain that has reports: all its messages, exactly, and its packed sources (day-sources.ts). */
export interface DataDay {
  readonly day: Day;
  readonly messages: number;
  readonly aligned: number;
  /** null when no report of the day named a source. */
  readonly sources: Uint8Array | null;
}

type DaysQuery = { domainId: string; from: Day; to: Day };

/** The days of a range that have reports, oldest first: at most one row for each day. */
export const daysOf = prepareQuery<DaysQuery, DataDay>((db, param) =>
  db
    .selectFrom('domain_day')
    .select(['day', 'messages', 'aligned', 'sources'])
    .where('domain_id', '=', param('domainId'))
    .where('day', '>=', param('from'))
    .where('day', '<=', param('to'))
    .orderBy('day'),
);

/** What one address sent in some days. */
export interface SourceSum extends Counts {
  readonly address: string;
  readonly firstDay: Day;
  readonly lastDay: Day;
}

type Sum = { -readonly [Name in keyof SourceSum]: SourceSum[Name] };

/** Addresses counted at the same time, some 20 MB. Only a flood of addresses has more in a year. */
const MAX_ADDRESSES = 100_000;
/** Packed bytes that are read before the event loop runs: less than a millisecond. */
const BYTES_AT_ONCE = 64 * 1024;

/** Adds up what each address sent, from the oldest day to the newest. When there are too many, later ones are left out. */
export async function sumSources(days: readonly DataDay[]): Promise<readonly SourceSum[]> {
  const sums = new Map<string, Sum>();
  let read = 0;
  for (const { day, sources } of days) {
    eachSource(sources, (address, counts) => addTo(sums, { day, address, counts }));
    read += sources?.length ?? 0;
    if (read < BYTES_AT_ONCE) continue;
    read = 0;
    await yieldToOthers();
  }
  return [...sums.values()];
}

interface Sent {
  readonly day: Day;
  readonly address: string;
  readonly counts: Counts;
}

function addTo(sums: Map<string, Sum>, { day, address, counts }: Sent): void {
  const sum = sums.get(address);
  if (sum === undefined) {
    if (sums.size < MAX_ADDRESSES)
      sums.set(address, { address, ...counts, firstDay: day, lastDay: day });
    return;
  }
  sum.messages = addSafely(sum.messages, counts.messages);
  sum.aligned = addSafely(sum.aligned, counts.aligned);
  sum.dkimAligned = addSafely(sum.dkimAligned, counts.dkimAligned);
  sum.spfAligned = addSafely(sum.spfAligned, counts.spfAligned);
  sum.lastDay = day;
}

/** Most failed messages first, then most messages, then by address. */
export function byFailed(a: SourceSum, b: SourceSum): number {
  return (
    b.messages - b.aligned - (a.messages - a.aligned) ||
    b.messages - a.messages ||
    (a.address < b.address ? -1 : 1)
  );
}
