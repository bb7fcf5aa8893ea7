import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Day } from '../../domain/instant.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import {
  type AddressKey,
  compareKeys,
  toAddress,
  toAddressKey,
} from '../../domain/sources/address-key.ts';
import type { DaySources } from '../../domain/sources/day-sources.ts';
import type { TakeSource } from '../../domain/sources/packed-entry.ts';
import { eachPattern, eachSource, packSources } from '../../domain/sources/packed-sources.ts';
import type { Counts } from '../../domain/sources/source.ts';
import type { Tx } from '../engine/database.ts';
import { prepareQuery } from '../engine/prepared.ts';

/** A day of a domain that has reports: all its messages, exactly, and its packed sources (packed-sources.ts). */
export interface DataDay {
  readonly day: Day;
  readonly reports: number;
  readonly messages: number;
  /** null when no report of the day named a source. */
  readonly sources: Uint8Array | null;
}

export type DomainDay = { readonly domainId: string; readonly day: Day };

export type DaysQuery = { domainId: string; from: Day; to: Day };

/** The days of a range that have reports, oldest first: at most one row for each day. */
export const daysOf = prepareQuery<DaysQuery, DataDay>((db, param) =>
  db
    .selectFrom('domain_day')
    .select(['day', 'reports', 'messages', 'sources'])
    .where('domain_id', '=', param('domainId'))
    .where('day', '>=', param('from'))
    .where('day', '<=', param('to'))
    .orderBy('day'),
);

/** The latest days with reports before a day, newest first. */
export const daysBefore = prepareQuery<{ domainId: string; before: Day; limit: number }, DataDay>(
  (db, param) =>
    db
      .selectFrom('domain_day')
      .select(['day', 'reports', 'messages', 'sources'])
      .where('domain_id', '=', param('domainId'))
      .where('day', '<', param('before'))
      .orderBy('day', 'desc')
      .limit(param('limit')),
);

/** Replaces the sources of a day that has reports, and returns them packed. */
export async function updateSources(
  tx: Tx,
  { domainId: domain_id, day }: DomainDay,
  all: DaySources,
): Promise<Uint8Array | null> {
  const sources = packSources(all);
  const days = tx.updateTable('domain_day').set({ sources });
  await days.where(({ and }) => and({ domain_id, day })).execute();
  return sources;
}

/** Messages by pattern (reports/source-pattern.ts) of addresses. Those that were not kept are missing. */
export type PatternSums = ReadonlyMap<AddressKey, ReadonlyMap<string, number>>;

/** Of some addresses. */
export async function sumPatterns(
  days: readonly Pick<DataDay, 'sources'>[],
  addresses: readonly string[],
): Promise<PatternSums> {
  const wanted = new Set(addresses.map(toAddressKey));
  const sums = new Map<AddressKey, Map<string, number>>();
  let read = 0;
  for (const { sources } of wanted.size === 0 ? [] : days) {
    eachPattern(sources, wanted, (key, pattern, messages) => {
      const sum = sums.get(key);
      if (sum === undefined) sums.set(key, new Map([[pattern, messages]]));
      else sum.set(pattern, addSafely(sum.get(pattern) ?? 0, messages));
    });
    read += sources?.length ?? 0;
    if (read < BYTES_AT_ONCE) continue;
    read = 0;
    await yieldToOthers();
  }
  return sums;
}

/** What one address sent in some days. */
export interface KeyedSum extends Counts {
  readonly key: AddressKey;
  readonly firstDay: Day;
  readonly lastDay: Day;
}

export interface SourceSum extends Omit<KeyedSum, 'key'> {
  readonly address: string;
}

/** Texts of addresses are made of those that are shown: of 50,000, they take longer than their sums. */
export function toSourceSum(sum: KeyedSum): SourceSum {
  const { key, messages, aligned, dkimAligned, spfAligned, firstDay, lastDay } = sum;
  const address = toAddress(key);
  return { address, messages, aligned, dkimAligned, spfAligned, firstDay, lastDay };
}

type Sum = { -readonly [Name in keyof KeyedSum]: KeyedSum[Name] };

/** Addresses counted at the same time, some 20 MB. Only a flood of addresses has more in a year. */
const MAX_ADDRESSES = 100_000;
/** Packed bytes that are read before the event loop runs: less than a millisecond. */
const BYTES_AT_ONCE = 64 * 1024;

/**
 * Adds up what each address sent, from the oldest day to the newest. When there are too many addresses, later ones are
 * left out. The days whose sources are damaged add nothing.
 */
export async function sumSources(
  days: readonly Pick<DataDay, 'day' | 'sources'>[],
): Promise<{ readonly sums: readonly KeyedSum[]; readonly damaged: readonly Day[] }> {
  const sums = new Map<AddressKey, Sum>();
  const damaged: Day[] = [];
  let read = 0;
  for (const { day, sources } of days) {
    const add: TakeSource = (key, messages, aligned, dkimAligned, spfAligned) => {
      const sum = sums.get(key);
      if (sum !== undefined) {
        sum.messages = addSafely(sum.messages, messages);
        sum.aligned = addSafely(sum.aligned, aligned);
        sum.dkimAligned = addSafely(sum.dkimAligned, dkimAligned);
        sum.spfAligned = addSafely(sum.spfAligned, spfAligned);
        sum.lastDay = day;
      } else if (sums.size < MAX_ADDRESSES) {
        const counts = { messages, aligned, dkimAligned, spfAligned };
        sums.set(key, { key, ...counts, firstDay: day, lastDay: day });
      }
    };
    if (!eachSource(sources, add)) damaged.push(day);
    read += sources?.length ?? 0;
    if (read < BYTES_AT_ONCE) continue;
    read = 0;
    await yieldToOthers();
  }
  return { sums: [...sums.values()], damaged };
}

/** Most failed messages first, then most messages, then by address. */
export function byFailed(a: KeyedSum, b: KeyedSum): number {
  return b.messages - b.aligned - (a.messages - a.aligned) || byMessages(a, b);
}

/** Most messages first, then by address. */
export function byMessages(a: KeyedSum, b: KeyedSum): number {
  return b.messages - a.messages || compareKeys(a.key, b.key);
}
