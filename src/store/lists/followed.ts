import type { GivenPoint, Start } from '../../domain/cursor.ts';
import type { JsonItem } from '../engine/dialect.ts';
import { type BoundQuery, type Param, prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import { findPoint, findStart, type ListWithPoints } from './find-points.ts';
import type { Head } from './heads.ts';
import { findHead, type Page, type PagedList, type PageOf, toItems } from './page.ts';

/*
 * What came to a list after a point, oldest change first. The total is the number of positions behind the point minus
 * the gaps there. Counting 1,000 gaps takes 27 µs, 100,000 take 5 ms, whatever the size of the list.
 */

/** The items behind a position while the list has this version: those after the first `skip`, at most `limit`. */
export type ItemsAfterQuery = {
  readonly after: number;
  readonly skip: number;
  readonly limit: number;
  readonly version: string;
};

/** An item, and where it is in the order of changes. */
export interface FollowedItem<Item> extends JsonItem<Item> {
  readonly position: number;
  /** Of its transaction, where items have it: then nothing has to be asked for its point. */
  readonly nonce?: string;
}

/** A list that clients can follow. Its head is that of the whole list. */
export interface FollowedList<Item> extends PagedList<Item>, ListWithPoints {
  readonly id: string;
  readonly after: (query: ItemsAfterQuery) => BoundQuery<FollowedItem<Item>>;
  /** The sum of the nonces of items behind a position that changed in place; no query where none does. */
  readonly updates?: (after: number) => BoundQuery<{ readonly nonces: number | null }>;
}

/** The head of what came after a point. Its version changes when, and only when, that changes. */
export interface FollowedHead extends Head {
  readonly after: GivenPoint;
  readonly gaps: number;
  /** The version of the whole list. */
  readonly listVersion: string;
}

/** `no_list`: not for this caller. `no_point`: the list did not give the point out, or an item was removed since. */
export type NotFollowed = 'no_list' | 'no_point';

/** While nothing is new, it is read without a snapshot, like the head of the whole list. */
export async function findFollowedHead<Item>(
  reader: Reader,
  list: FollowedList<Item>,
  start: Start,
): Promise<FollowedHead | NotFollowed> {
  const head = await findHead(reader, list);
  if (head === undefined) return 'no_list';
  const step = planAfter(list, start, head).next([]);
  return step.done ? step.value : await reader.readPlan(() => planHead(list, start));
}

interface FollowedPage<Item> extends PageOf<Item> {
  readonly point: GivenPoint;
}

interface Wanted {
  readonly start: Start;
  readonly page: Page;
  readonly head: FollowedHead;
}

/** `point` is behind the last item of the page. Reads from a replica, when its list is no older than the head. */
export async function readFollowedPage<Item>(
  reader: Reader,
  list: FollowedList<Item>,
  wanted: Wanted,
): Promise<FollowedPage<Item> | NotFollowed> {
  const { start, page, head } = wanted;
  if (page.offset >= head.total) return toEmptyPage(wanted);
  const read = await reader.readNoOlder(
    (from) => from.readPlan(() => planItems(list, wanted)),
    (found) => found !== undefined,
  );
  return read ?? (await reader.readPlan(() => planPage(list, start, page)));
}

/** For a list that has changed since its head was read. */
function* planPage<Item>(
  list: FollowedList<Item>,
  start: Start,
  page: Page,
): Plan<FollowedPage<Item> | NotFollowed> {
  const head = yield* planHead(list, start);
  // It was removed, or an item of it, after its head was read.
  if (typeof head === 'string') return head;
  const wanted = { start, page, head };
  return (yield* planItems(list, wanted)) ?? toEmptyPage(wanted);
}

function toEmptyPage({ start, head }: Wanted): FollowedPage<never> {
  const { total, version, after } = head;
  return { total, version, items: [], point: start === 'start' ? after : start };
}

/** undefined when there are none, or the list has another version than the head. */
function* planItems<Item>(
  list: FollowedList<Item>,
  { page: { limit, offset }, head }: Wanted,
): Plan<FollowedPage<Item> | undefined> {
  const pageStart = yield* findPageStart(list.id, head, offset);
  const rows = yield* ask(list.after({ ...pageStart, limit, version: head.listVersion }));
  const last = rows.at(-1);
  if (last === undefined) return undefined;
  const { position } = last;
  const point = last.nonce ? { nonce: last.nonce } : yield* findPoint(list, position);
  if (point === undefined) throw new Error('An item of a list has no point.');
  const { total, version, after } = head;
  return {
    ...{ total, version },
    items: toItems(rows),
    point: { ...after, nonce: point.nonce, position },
  };
}

function* planHead<Item>(list: FollowedList<Item>, start: Start): Plan<FollowedHead | NotFollowed> {
  const [head] = yield* ask(list.head);
  return head === undefined ? 'no_list' : yield* planAfter(list, start, head);
}

/** Needs no query when the start is the newest point of the list. */
function* planAfter<Item>(
  list: FollowedList<Item>,
  start: Start,
  { position = 0, nonce = '', generation = 0, begin = 0, version: listVersion }: Head,
): Plan<FollowedHead | NotFollowed> {
  if (start !== 'start' && start.generation !== generation) return 'no_point';
  const newest = { position, nonce };
  const point = yield* findStart(list, start, { begin, newest });
  if (point === undefined) return 'no_point';
  const after = { ...point, generation, newest };
  const isNewest = point.position === position;
  const { gaps, nonces } = isNewest ? NO_GAPS : yield* countGaps(list.id, point.position, position);
  const total = position - point.position - gaps;
  const updates = isNewest ? 0 : yield* sumUpdates(list, point.position);
  const version = [nonce, generation, total, nonces, updates].join('.');
  return { total, version, after, gaps, listVersion };
}

function* sumUpdates<Item>({ updates }: FollowedList<Item>, after: number): Plan<number> {
  if (updates === undefined) return 0;
  const [sum] = yield* ask(updates(after));
  return sum?.nonces ?? 0;
}

type GapsQuery = { listId: string; after: number; until: number };

const gapsBetween = prepareQuery((db, param: Param<GapsQuery>) =>
  db
    .selectFrom('list_gap')
    .select(({ fn }) => [fn.countAll<number>().as('gaps'), fn.sum<number>('nonce').as('nonces')])
    .where('list_id', '=', param('listId'))
    .where('position', '>', param('after'))
    .where('position', '<=', param('until')),
);

const NO_GAPS = { gaps: 0, nonces: 0 };

function* countGaps(listId: string, after: number, until: number) {
  const [sum] = yield* ask(gapsBetween({ listId, after, until }));
  return { gaps: sum?.gaps ?? 0, nonces: sum?.nonces ?? 0 };
}

/** Skips `offset` positions behind the point, then one item for each gap among them, because a gap has no item. */
function* findPageStart(
  listId: string,
  { after: { position }, gaps }: FollowedHead,
  offset: number,
): Plan<{ after: number; skip: number }> {
  const after = position + offset;
  if (offset === 0 || gaps === 0) return { after, skip: 0 };
  return { after, skip: (yield* countGaps(listId, position, after)).gaps };
}
