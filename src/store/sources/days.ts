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
import { eachPattern, packSources } from '../../domain/sources/packed-sources.ts';
import { type KeyedSum, SourceSums } from '../../domain/sources/source-sums.ts';
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
    read += sizeOf({ sources });
    if (read < BYTES_AT_ONCE) continue;
    read = 0;
    await yieldToOthers();
  }
  return sums;
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

/** Packed bytes that are read before the event loop runs: less than a millisecond. */
const BYTES_AT_ONCE = 128 * 1024;

/** Adds up what each address sent, from the oldest day to the newest. The days whose sources are damaged add nothing. */
export async function sumSources(
  days: readonly Pick<DataDay, 'day' | 'sources'>[],
): Promise<{ readonly sums: readonly KeyedSum[]; readonly damaged: readonly Day[] }> {
  const sums = new SourceSums(days.reduce((bytes, one) => bytes + sizeOf(one), 0));
  const damaged: Day[] = [];
  let read = 0;
  for (const one of days) {
    if (!sums.add(one)) damaged.push(one.day);
    read += sizeOf(one);
    if (read < BYTES_AT_ONCE) continue;
    read = 0;
    await yieldToOthers();
  }
  return { sums: sums.list(), damaged };
}

function sizeOf({ sources }: Pick<DataDay, 'sources'>): number {
  return sources?.length ?? 0;
}

/** Most failed messages first, then most messages, then by address. */
export function byFailed(a: KeyedSum, b: KeyedSum): number {
  return b.messages - b.aligned - (a.messages - a.aligned) || byMessages(a, b);
}

/** Most messages first, then by address. */
export function byMessages(a: KeyedSum, b: KeyedSum): number {
  return b.messages - a.messages || compareKeys(a.key, b.key);
}
