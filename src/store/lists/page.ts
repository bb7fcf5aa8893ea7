import { LRUCache } from 'lru-cache';
import { Failure } from '../../domain/failure.ts';
import { END_OF_TIME } from '../../domain/instant.ts';
import type { JsonItem, JsonText } from '../engine/dialect.ts';
import type { BoundQuery } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import type { Owner } from './declaration.ts';
import type { Head } from './heads.ts';
import { findPageStart, type ListDaysQuery, type PageStart, sumDays } from './timeline.ts';

/** The requested part of a list: `limit` items after the first `offset`. */
export type Page = {
  readonly limit: number;
  readonly offset: number;
};

/** A large page ends before the item with which it would be longer. */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** The first of the items that fit into a page together, at least one. */
export function takeFitting<Item>(items: readonly Item[], toBytes: (item: Item) => number): Item[] {
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += toBytes(item);
    return bytes > MAX_PAGE_BYTES;
  });
  return end === -1 ? [...items] : items.slice(0, Math.max(1, end));
}

export interface PagedList<Item> {
  readonly id: string;
  /** Whose reports are its items; undefined when it has others. */
  readonly reportsOf?: Owner | undefined;
  /** Its items by day, latest first (timeline.ts). Of a list without them, all items before a page are skipped. */
  readonly days: ListDaysQuery | undefined;
  /** The unique value by which it is ordered, where an item has one. */
  readonly keyOf: ((item: object) => string) | undefined;
  /** The total and version of the whole. No row when the list does not exist for the caller. */
  readonly head: BoundQuery<Head>;
  /** How many items of the whole it has; undefined when it is the whole. Counts of days say it where they are kept. */
  readonly count: (() => BoundQuery<{ readonly total: number }>) | undefined;
  /** The items from a start on while the whole has this version; none when it has another. */
  readonly items: (query: ItemsQuery) => BoundQuery<JsonItem<Item>>;
}

export type ItemsQuery = Start & {
  readonly limit: number;
  readonly version: string;
};

/** A page of a list, with its total, and the version of the whole, from the same snapshot. */
export interface PageOf<Item> extends Head {
  readonly items: readonly JsonText<Item>[];
}

/** undefined when the list does not exist for the caller. */
export async function findHead(
  reader: Reader,
  list: PagedList<unknown>,
): Promise<Head | undefined> {
  const [head] = await reader.readFirst(list.head);
  return head;
}

/** A page of a list that exists. */
export function readPage<Item>(
  reader: Reader,
  list: PagedList<Item>,
  page: Page,
): Promise<PageOf<Item>> {
  return reader.readPlan(() => planPage(list, page), list.reportsOf);
}

/**
 * The same for a caller that has read the head; from a replica, when its list is no older. While the whole has not
 * changed since, one query is enough: it finds items only in the snapshot of that head.
 */
export async function readCurrentPage<Item>(
  reader: Reader,
  list: PagedList<Item>,
  { page, head }: { readonly page: Page; readonly head: Head },
): Promise<PageOf<Item>> {
  // The generator is done at once when it needs no counts.
  const { reportsOf } = list;
  const isWhole = reportsOf && reportsOf.domainId === undefined && reader.isDivided?.();
  const step = list.count || isWhole ? undefined : findStartOf(list, page, head).next([]);
  const start = step?.done ? step.value : undefined;
  if (start !== undefined) {
    const query = list.items({ limit: page.limit, version: head.version, ...start });
    const rows = await reader.readNoOlder(
      (from) => from.readAll(query),
      (found) => found.length > 0,
    );
    // No items: the list has changed, so the primary has another version, and a replica need not be asked again.
    return rows.length > 0 ? toPage(list, page, head, rows) : await readPage(reader, list, page);
  }
  return await reader.readNoOlder(
    (from) => readPage(from, list, page),
    ({ version }) => version === head.version,
  );
}

function* planPage<Item>(list: PagedList<Item>, page: Page): Plan<PageOf<Item>> {
  const [whole] = yield* ask(list.head);
  // It was there a moment ago.
  if (whole === undefined) throw new Failure('not_found', 'No such domain.');
  const head = { ...whole, total: yield* count(list, whole) };
  const start = yield* findStartOf(list, page, head);
  // The head says that nothing is left, so no query has to find it out.
  if (start === undefined) return { ...head, items: [] };
  const rows = yield* ask(list.items({ limit: page.limit, version: head.version, ...start }));
  return toPage(list, page, head, rows);
}

function* count(list: PagedList<unknown>, { total, version }: Head): Plan<number> {
  if (list.count === undefined || total === 0) return total;
  if (list.days !== undefined)
    return yield* sumDays({ query: list.days, version: toState(list, version) });
  const key = toState(list, version);
  const known = totals.get(key) ?? (yield* ask(list.count()))[0]?.total ?? 0;
  totals.set(key, known);
  return known;
}

/** How many items lists have of which no days are counted: to count 12,500 reports of a reporter takes 0.6 ms. */
const totals = new LRUCache<string, number>({ max: 10_000 });

/** A version is random, and stands for one state of the whole. */
const toState = ({ id }: PagedList<unknown>, version: string) => `${id} ${version}`;

/** `from`: the smallest key that can be on the page. */
type Start = PageStart & { readonly from: string };

function* findStartOf(
  list: PagedList<unknown>,
  { offset }: Page,
  { total, version }: Head,
): Plan<Start | undefined> {
  if (offset >= total) return undefined;
  const { days, keyOf } = list;
  const state = toState(list, version);
  if (days !== undefined)
    return { from: '', ...(yield* findPageStart({ query: days, version: state }, offset)) };
  const place = Math.floor(offset / PLACES_APART);
  const isBefore = (found: Place | undefined) => found !== undefined && found.offset <= offset;
  const known =
    keyOf && [place, place - 1].map((at) => places.get(`${state} ${at}`)).find(isBefore);
  return { from: known?.key ?? '', until: END_OF_TIME, skip: offset - (known?.offset ?? 0) };
}

type Place = { readonly offset: number; readonly key: string };

/**
 * The first items of pages, by the state of their list: a page begins by the key of one
 * nearby, because to skip 50,000 items costs 35 times as much as a page.
 */
const places = new LRUCache<string, Place>({ max: 20_000 });
const PLACES_APART = 200;

function toPage<Item>(
  list: PagedList<Item>,
  { offset }: Page,
  head: Head,
  rows: readonly JsonItem<Item>[],
): PageOf<Item> {
  const [first] = rows;
  if (list.keyOf && first)
    places.set(`${toState(list, head.version)} ${Math.floor(offset / PLACES_APART)}`, {
      offset,
      key: list.keyOf(JSON.parse(first.item)),
    });
  return { ...head, items: toItems(rows) };
}

export function toItems<Item>(rows: readonly JsonItem<Item>[]): JsonText<Item>[] {
  return rows.map(({ item }) => item);
}

export function parseItems<Item>({ items }: PageOf<Item>): Item[] {
  return items.map((item) => JSON.parse(item));
}
