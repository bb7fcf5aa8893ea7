import { addUp, type Counts } from '../../domain/alerts/rate.ts';
import type { Day, DayRange } from '../../domain/instant.ts';
import { parsePattern } from '../../domain/reports/source-pattern.ts';
import { type AddressKey, toAddressKey } from '../../domain/sources/address-key.ts';
import { addDay, type DaySources, type SourceOfDay } from '../../domain/sources/day-sources.ts';
import type { Results } from '../../domain/sources/evidence.ts';
import { unpackSource } from '../../domain/sources/packed-sources.ts';
import { planDomain } from '../domains/overview.ts';
import { ask, type Reader } from '../engine/reader.ts';
import type { DomainOfAccount } from '../lists/heads.ts';
import { type DataDay, daysBefore, daysOf } from './days.ts';

export interface SourceDay extends Counts {
  readonly day: Day;
}

export interface Reporter extends Counts {
  readonly name: string | null;
}

export interface SourceOfRange {
  /** The days on which it sent something, oldest first. */
  readonly days: readonly SourceDay[];
  /** What reporters said of its messages, most messages first. */
  readonly results: readonly Results[];
  /** Messages of the days that belong to no results above. */
  readonly otherMessages: number;
  /** Who reported them, most messages first. */
  readonly reporters: readonly Reporter[];
  /** The days whose packed sources are damaged (`repairDays`). */
  readonly damaged: readonly Day[];
}

interface SourceQuery {
  readonly address: string;
  readonly range: DayRange;
}

/** An address that sent nothing has no days. Throws `not_found` when the account has no such domain. */
export async function readSource(
  reader: Reader,
  scope: DomainOfAccount,
  { address, range }: SourceQuery,
): Promise<SourceOfRange> {
  const { domainId } = scope;
  const all = await reader.readPlan(function* () {
    yield* planDomain(scope);
    return yield* ask(daysOf({ domainId, ...range }));
  });
  const key = toAddressKey(address);
  const sum: DaySources = new Map();
  const damaged: Day[] = [];
  const days = all.flatMap((one) => {
    const source = findSource(one, key);
    if (source === null) damaged.push(one.day);
    if (!source) return [];
    addDay(sum, new Map([[key, source]]));
    const { messages, aligned } = source.counts;
    return [{ day: one.day, messages, aligned }];
  });
  const { results, reporters } = toShown(sum.get(key));
  const otherMessages = Math.max(0, addUp(days).messages - addUp(results).messages);
  return { days, results, otherMessages, reporters, damaged };
}

function findSource({ sources }: DataDay, key: AddressKey) {
  return sources === null ? undefined : unpackSource(sources, key);
}

function toShown(source: SourceOfDay | undefined): Pick<SourceOfRange, 'results' | 'reporters'> {
  if (source === undefined) return { results: [], reporters: [] };
  const results = [...source.patterns].map(([pattern, messages]) => toResults(pattern, messages));
  const reporters = [...source.reporters].map(([name, counts]) => ({ name, ...counts }));
  return { results: results.sort(byMessages), reporters: reporters.sort(byMessages) };
}

function toResults(pattern: string, messages: number): Results {
  const values = parsePattern(pattern);
  const isAligned = values.spf.isAligned || values.isDkimAligned;
  return { ...values, messages, aligned: isAligned ? messages : 0 };
}

function byMessages(a: Counts, b: Counts): number {
  return b.messages - a.messages;
}

/** How many days are read at once in a search: few, because most addresses are found in the first, and then more. */
const FIRST_DAYS = 4;
const MAX_DAYS = 64;

/** The last day on which an address sent in a domain's name; null when it is in no stored day. Reads days until then. */
export async function findLastDay(
  reader: Reader,
  { domainId, address }: { readonly domainId: string; readonly address: string },
): Promise<Day | null> {
  const key = toAddressKey(address);
  let before = '9999-12-31';
  for (let limit = FIRST_DAYS; ; limit = Math.min(2 * limit, MAX_DAYS)) {
    const rows = await reader.readAll(daysBefore({ domainId, before, limit }));
    const found = rows.find((row) => findSource(row, key));
    const last = rows.at(-1);
    if (found !== undefined || last === undefined) return found?.day ?? null;
    before = last.day;
  }
}
