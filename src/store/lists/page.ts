import type { BoundQuery } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import type { Head } from './heads.ts';
import type { JsonText } from './json.ts';
import { END_OF_TIME, findPlace, type Place } from './places.ts';

/** The wanted part of a list: `limit` items after the first `offset`. */
export type Page = {
  readonly limit: number;
  readonly offset: number;
};

/** A list that is read page by page. */
export interface PagedList<Item> {
  /** The list's id in the order of changes (points.ts), when clients can follow it. */
  readonly id?: string;
  /** The list's total and version. No row when the list does not exist for the caller. */
  readonly head: BoundQuery<Head>;
  /** The items from a place on while the list has this version; none when it has another. */
  readonly items: (wanted: WantedItems) => BoundQuery<JsonText<Item>>;
}

/** In a list without an id, all items before the page are skipped. */
export type WantedItems = Place & {
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
  const [head] = await reader.readAll(list.head);
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
  const step = findPlaceOf(list, page, head).next([]);
  const place = step.done ? step.value : undefined;
  if (place !== undefined) {
    const query = toQuery(list, { page, head, place });
    const items = await reader.readNoOlder(
      (from) => from.readAll(query),
      (found) => found.length > 0,
    );
    // No items: the list has changed, so the primary has another version, and a replica need not be asked again.
    return items.length > 0 ? { ...head, items } : await readPage(reader, list, page);
  }
  return await reader.readNoOlder(
    (from) => readPage(from, list, page),
    ({ version }) => version === head.version,
  );
}

function* planPage<Item>(list: PagedList<Item>, page: Page): Plan<PageOf<Item>> {
  const [head] = yield* ask(list.head);
  if (head === undefined) throw new Error('The list was removed while its page was read.');
  // Whatever the engine does to find out that nothing is left, the head knows already.
  const place = yield* findPlaceOf(list, page, head);
  if (place === undefined) return { ...head, items: [] };
  return { ...head, items: yield* ask(toQuery(list, { page, head, place })) };
}

/** Where a page begins; undefined behind the end of the list. */
function* findPlaceOf(
  { id }: PagedList<unknown>,
  { offset }: Page,
  { total, version }: Head,
): Plan<Place | undefined> {
  if (offset >= total) return undefined;
  return id === undefined ? toSkipping(offset) : yield* findPlace({ id, version }, offset);
}

function toSkipping(offset: number): Place {
  return { until: END_OF_TIME, skip: offset };
}

interface PlacedPage {
  readonly page: Page;
  readonly head: Head;
  readonly place: Place;
}

function toQuery<Item>({ items }: PagedList<Item>, { page, head, place }: PlacedPage) {
  return items({ limit: page.limit, version: head.version, ...place });
}

/** The items of a page as objects. */
export function parseItems<Item>({ items }: PageOf<Item>): Item[] {
  return items.map((item) => JSON.parse(item));
}
