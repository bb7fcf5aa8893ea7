import { ask, type Plan } from '../connection/plan.ts';
import type { BoundQuery } from '../connection/prepared.ts';
import type { Reader } from '../connection/reader.ts';
import type { Head } from './heads.ts';
import type { JsonText } from './json.ts';

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
  /** The items of a page, in the snapshot of the head. */
  readonly readItems: (page: Page, head: Head) => Plan<readonly JsonText<Item>[]>;
}

/** A page of a list, with the list's total and version from the same snapshot. */
export interface PageOf<Item> extends Head {
  readonly items: readonly JsonText<Item>[];
}

/** undefined when the list does not exist for the caller. */
export function findHead(reader: Reader, list: PagedList<unknown>): Promise<Head | undefined> {
  return reader.readFirst(list.head);
}

/** A page of a list that exists. */
export function readPage<Item>(
  reader: Reader,
  list: PagedList<Item>,
  page: Page,
): Promise<PageOf<Item>> {
  return reader.readPlan(() => planPage(list, page));
}

/** The same from a replica, when its list is no older than a head that was read before. */
export function readCurrentPage<Item>(
  reader: Reader,
  list: PagedList<Item>,
  { page, head }: { readonly page: Page; readonly head: Head },
): Promise<PageOf<Item>> {
  return reader.readNoOlder(
    () => planPage(list, page),
    ({ version }) => version === head.version,
  );
}

function* planPage<Item>(list: PagedList<Item>, page: Page): Plan<PageOf<Item>> {
  const [head] = yield* ask(list.head);
  if (head === undefined) throw new Error('The list was removed while its page was read.');
  // Whatever the engine does to find out that nothing is left, the head knows already.
  const items = page.offset < head.total ? yield* list.readItems(page, head) : [];
  return { ...head, items };
}

/** The items of a page as objects. */
export function parseItems<Item>({ items }: PageOf<Item>): Item[] {
  return items.map((item) => JSON.parse(item));
}
