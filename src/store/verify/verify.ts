import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Day } from '../../domain/instant.ts';
import { toAddress } from '../../domain/sources/address-key.ts';
import type { DaySources } from '../../domain/sources/day-sources.ts';
import {
  isIntact,
  isKept,
  MAX_SOURCES,
  unpackSources,
} from '../../domain/sources/packed-sources.ts';
import { type DayRow, dayOf } from '../documents/day-counts.ts';
import { findStatedPolicy } from '../documents/stated-policy.ts';
import type { Queries } from '../engine/database.ts';
import { askAll, type Plan, type Reader } from '../engine/reader.ts';
import type { DomainDay } from '../sources/days.ts';
import { MAX_RECORDS, recountDay } from '../sources/recount.ts';
import type { Mending, Owner } from './change.ts';
import {
  compareRows,
  type Figure,
  OF_ACCOUNT,
  OF_DOMAIN,
  toParams,
  type WrongFigure,
} from './figures.ts';
import { mendDay, mendFigures } from './mend.ts';

export interface Difference extends WrongFigure {
  readonly table: string;
  /** The name of a domain, or the id of an account. */
  readonly of: string;
}

/** Figures that are compared in one snapshot, and how they become right. */
interface Check {
  readonly compare: () => Promise<Difference[]>;
  readonly mend: (store: Mending) => Promise<void>;
}

interface Verified {
  readonly db: Queries;
  readonly reader: Reader;
}

/** Computes every stored figure again and yields those that are wrong. */
export async function* verify(store: Verified): AsyncGenerator<Difference> {
  for await (const { compare } of listChecks(store)) yield* await compare();
}

/** Mends what is wrong and yields it. What could not be mended is named by `isMended`. */
export async function* repair(
  store: Mending,
): AsyncGenerator<Difference & { readonly isMended: boolean }> {
  for await (const { compare, mend } of listChecks(store)) {
    const found = await compare();
    if (found.length === 0) continue;
    await mend(store);
    const left = new Set((await compare()).map(toPlace));
    for (const one of found) yield { ...one, isMended: !left.has(toPlace(one)) };
  }
}

/** The first account or domain whose totals and newest positions are wrong. */
export async function findWrongHead(store: Verified): Promise<Difference | undefined> {
  for (const [table, heads] of HEADS)
    for await (const { id, name } of listOwners(store.db, table)) {
      const owner = { table, id, of: name };
      const [wrong] = await store.reader.readPlan(() => compareFigures(heads, owner));
      if (wrong !== undefined) return wrong;
    }
  return undefined;
}

const HEADS = [
  ['account', OF_ACCOUNT.filter(({ table }) => table === 'account')],
  ['domain', OF_DOMAIN.filter(({ table }) => table === 'domain')],
] as const;

const toPlace = ({ table, at, figure }: Difference) => [table, at, figure].join(' ');

/**
 * Each account and each domain is read in a snapshot of its own, because no figure counts rows of two: so none is held
 * open for long, and others go on.
 */
async function* listChecks(store: Verified): AsyncGenerator<Check> {
  const { db } = store;
  for await (const { id, name } of listOwners(db, 'domain')) {
    const owner = { table: 'domain', id, of: name } as const;
    yield checkFigures(store, OF_DOMAIN, owner);
    for (const day of await listDays(db, id))
      yield {
        compare: () => compareDay(store, owner, day),
        mend: (mending) => mendDay(mending.db, owner, day),
      };
  }
  // After the domains, whose reports they list.
  for await (const { id } of listOwners(db, 'account'))
    yield checkFigures(store, OF_ACCOUNT, { table: 'account', id, of: id });
}

function checkFigures(store: Verified, figures: readonly Figure[], owner: Owner): Check {
  return {
    compare: () => store.reader.readPlan(() => compareFigures(figures, owner)),
    mend: (mending) => mendFigures(mending, figures, owner),
  };
}

const OWNERS_AT_ONCE = 500;

async function* listOwners(db: Queries, table: 'account' | 'domain') {
  const first = db.selectFrom(table).select(['id', 'name']).orderBy('id').limit(OWNERS_AT_ONCE);
  let rows = await first.execute();
  for (; rows.length > 0; rows = await first.where('id', '>', rows.at(-1)?.id ?? '').execute())
    yield* rows;
}

async function listDays(db: Queries, domainId: string): Promise<string[]> {
  const days = db.selectFrom('domain_day').select('day').where('domain_id', '=', domainId);
  return (await days.orderBy('day').execute()).map(({ day }) => day);
}

function* compareFigures(figures: readonly Figure[], { id, of }: Owner): Plan<Difference[]> {
  const owner = toParams({ id });
  const found: Difference[] = [];
  for (const { table, stored, right } of figures) {
    const [storedRows, rightRows] = yield* askAll(stored(owner), right(owner));
    for (const difference of compareRows(storedRows, rightRows))
      found.push({ table, of, ...difference });
  }
  return found;
}

/** How often a day is read again that changed while it was counted. */
const MAX_TRIES = 5;

/** What is computed from the contents of a day's reports. A day that keeps changing is left out. */
async function compareDay(
  { db, reader }: Verified,
  { id, of }: Owner,
  day: Day,
): Promise<Difference[]> {
  const at = { domainId: id, day };
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const [stored] = await reader.readAll(dayOf(at));
    if (stored === undefined) return [];
    const wrong = await findWrongOfDay(db, at, stored);
    if (!isDeepStrictEqual([stored], await reader.readAll(dayOf(at)))) continue;
    return wrong.map((one) => ({ table: 'domain_day', of, at: day, ...one }));
  }
  return [];
}

async function findWrongOfDay(
  db: Queries,
  at: DomainDay,
  { policy: stored, sources }: DayRow,
): Promise<Omit<WrongFigure, 'at'>[]> {
  const right = await findStatedPolicy(db, at);
  const wrong = await compareSources(db, at, sources);
  return [
    ...(right === undefined || right === stored ? [] : [{ figure: 'policy', stored, right }]),
    ...(wrong === undefined ? [] : [{ figure: 'sources', ...wrong }]),
  ];
}

/** The first address that is wrong. */
async function compareSources(db: Queries, at: DomainDay, stored: Uint8Array | null) {
  if (!isKept(stored)) return undefined;
  if (!isIntact(stored)) return { stored: 'damaged', right: 'intact' };
  // Of a day with more records, only the first are counted again.
  if ((await countRecords(db, at)) > MAX_RECORDS) return undefined;
  return findWrong(unpackSources(stored), await recountDay(db, at));
}

async function countRecords(db: Queries, { domainId, day }: DomainDay): Promise<number> {
  const { records } = await db
    .selectFrom('report')
    .select(sql<number>`coalesce(sum(1 + record_count), 0)`.as('records'))
    .where('domain_id', '=', domainId)
    .where('begin_date', '>=', `${day}T00:00:00Z`)
    .where('begin_date', '<=', `${day}T23:59:59Z`)
    .executeTakeFirstOrThrow();
  return Number(records);
}

/** Of a day with more addresses than are kept, a count may be too small and is never too large. */
function findWrong(stored: DaySources, right: DaySources) {
  const mayBeLess = right.size > MAX_SOURCES;
  for (const key of new Set([...stored.keys(), ...right.keys()])) {
    const [one, other] = [stored.get(key)?.counts, right.get(key)?.counts];
    const [few, many] = [Object.values(one ?? {}), Object.values(other ?? {})];
    if (mayBeLess ? few.every((count, i) => count <= (many[i] ?? 0)) : `${few}` === `${many}`)
      continue;
    const toText = (counts: readonly number[]) =>
      counts.length === 0 ? null : `${toAddress(key)}: ${counts.join(', ')}`;
    return { stored: toText(few), right: toText(many) };
  }
  return undefined;
}
