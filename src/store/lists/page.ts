import { LRUCache } from 'lru-cache';
import { Failure } from '../../domain/failure.ts';
import { END_OF_TIME } from '../../domain/instant.ts';
import type { JsonItem, JsonText } from '../engine/dialect.ts';
import type { BoundQuery } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import type { Head } from './heads.ts';
import { type DaysQuery, findPageStart, type PageStart } from './timeline.ts';

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
  /** The id of its cursors, where clients can follow it. */
  readonly id?: string;
  /** Its items by day, latest first (timeline.ts). Of a list without them, all items before a page are skipped. */
  readonly days?: DaysQuery;
  /** The unique value by which it is ordered, where an item has one. */
  keyOf?(item: Item): string;
  /** The list's total and version. No row when the list does not exist for the caller. */
  readonly head: BoundQuery<Head>;
  /** The items from a start on while the list, or the whole that it is a part of, has this version; none when it has another. */
  readonly items: (query: ItemsQuery) => BoundQuery<JsonItem<Item>>;
}

export type ItemsQuery = Start & {
  readonly limit: number;
  readonly version: string;
};

/** A page of a list, with the list's total and version from the same snapshot. */
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
  return reader.readPlan(() => planPage(list, page));
}

/**
 * The same for a caller that has read the head; from a replica, when its list is no older. While the list has not
 * changed since, one query is enough: it finds items only in the snapshot of that head.
 */
export async function readCurrentPage<Item>(
  reader: Reader,
  list: PagedList<Item>,
  { page, head }: { readonly page: Page; readonly head: Head },
): Promise<PageOf<Item>> {
  // The generator is done at once when it needs no counts.
  const step = findStartOf(list, page, head).next([]);
  const start = step.done ? step.value : undefined;
  if (start !== undefined) {
    const query = list.items({ limit: page.limit, version: toWhole(head), ...start });
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
  const [head] = yield* ask(list.head);
  // It was there a moment ago.
  if (head === undefined) throw new Failure('not_found', 'No such domain.');
  const start = yield* findStartOf(list, page, head);
  // The head says that nothing is left, so no query has to find it out.
  if (start === undefined) return { ...head, items: [] };
  const rows = yield* ask(list.items({ limit: page.limit, version: toWhole(head), ...start }));
  return toPage(list, page, head, rows);
}

/** `from`: the smallest key that can be on the page. */
type Start = PageStart & { readonly from: string };

function* findStartOf(
  { days, keyOf }: PagedList<unknown>,
  { offset }: Page,
  { total, version }: Head,
): Plan<Start | undefined> {
  if (offset >= total) return undefined;
  if (days !== undefined)
    return { from: '', ...(yield* findPageStart({ query: days, version }, offset)) };
  const place = Math.floor(offset / PLACES_APART);
  const isBefore = (found: Place | undefined) => found !== undefined && found.offset <= offset;
  const known =
    keyOf && [place, place - 1].map((at) => places.get(`${version} ${at}`)).find(isBefore);
  return { from: known?.key ?? '', until: END_OF_TIME, skip: offset - (known?.offset ?? 0) };
}

type Place = { readonly offset: number; readonly key: string };

/**
 * The first items of pages, by the list's version, which stands for one state of one list: a page begins by the key of one
 * nearby, because to skip 50,000 items costs 35 times as much as a page.
 */
const places = new LRUCache<string, Place>({ max: 20_000 });
const PLACES_APART = 200;

function toPage<Item>(
  { keyOf }: PagedList<Item>,
  { offset }: Page,
  head: Head,
  rows: readonly JsonItem<Item>[],
): PageOf<Item> {
  const [first] = rows;
  if (keyOf && first)
    places.set(`${head.version} ${Math.floor(offset / PLACES_APART)}`, {
      offset,
      key: keyOf(JSON.parse(first.item)),
    });
  return { ...head, items: toItems(rows) };
}

/** The version of the list that has all items of this one. */
export const toWhole = ({ whole, version }: Head): string => whole ?? version;

export function toItems<Item>(rows: readonly JsonItem<Item>[]): JsonText<Item>[] {
  return rows.map(({ item }) => item);
}

export function parseItems<Item>({ items }: PageOf<Item>): Item[] {
  return items.map((item) => JSON.parse(item));
}
