import type { Point, Start } from '../../domain/cursor.ts';
import { type BoundQuery, prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import type { Head } from './heads.ts';
import type { JsonText } from './json.ts';
import type { Page, PageOf } from './page.ts';
import { BLOCK } from './points.ts';

/*
 * What came to a list after a point, oldest change first. The total is the number of positions behind the
 * point minus the gaps there, which are counted in blocks: one row for each 1,024 positions with gaps. So the
 * cost hardly depends on the size of the list, and not at all while it has no gaps.
 */

/** The items behind a position: those after the first `skip`, at most `limit`. */
export type WantedAfter = {
  readonly after: number;
  readonly skip: number;
  readonly limit: number;
};

/** An item, and where it is in the order of changes. */
export interface PlacedItem<Item> {
  readonly item: JsonText<Item>;
  readonly position: number;
}

export interface FollowedList<Item> {
  readonly id: string;
  /** The whole list's head. No row when the list does not exist for the caller. */
  readonly head: BoundQuery<Head>;
  readonly items: (wanted: WantedAfter) => BoundQuery<PlacedItem<Item>>;
  /** The sum of the marks of items behind a position that changed in place; no query where none does. */
  readonly updates?: (after: number) => BoundQuery<{ readonly marks: number | null }>;
}

/** The head of what came after a point. Its version changes when, and only when, that changes. */
export interface FollowedHead extends Head {
  readonly after: Point;
  readonly gaps: number;
}

/** `no_list`: not for this caller. `no_point`: the list never gave the point out. */
export type NotFollowed = 'no_list' | 'no_point';

export function findFollowedHead<Item>(
  reader: Reader,
  list: FollowedList<Item>,
  start: Start,
): Promise<FollowedHead | NotFollowed> {
  return reader.readPlan(() => planHead(list, start));
}

/**
 * A page of what came after a point, with the cursor's point behind its last item; from a replica, when its list is
 * no older than the head.
 */
export function readFollowedPage<Item>(
  reader: Reader,
  list: FollowedList<Item>,
  { start, page, head }: { start: Start; page: Page; head: Head },
): Promise<PageOf<Item> & { readonly point: Point }> {
  return reader.readNoOlder(
    (from) => from.readPlan(() => planPage(list, start, page)),
    ({ version }) => version === head.version,
  );
}

function* planPage<Item>(
  list: FollowedList<Item>,
  start: Start,
  { limit, offset }: Page,
): Plan<PageOf<Item> & { point: Point }> {
  const head = yield* planHead(list, start);
  if (typeof head === 'string') throw new Error('The list was changed while its page was read.');
  const { total, version } = head;
  if (offset >= total) return { total, version, items: [], point: head.after };
  const place = yield* findPlace(list.id, head, offset);
  const rows = yield* ask(list.items({ ...place, limit }));
  const position = Number(rows.at(-1)?.position);
  const point = yield* findPoint(list.id, position);
  if (point === undefined) throw new Error('An item of a list has no point.');
  return { total, version, items: rows.map(({ item }) => item), point: { ...point, position } };
}

function* planHead<Item>(list: FollowedList<Item>, start: Start): Plan<FollowedHead | NotFollowed> {
  const [head] = yield* ask(list.head);
  if (head === undefined) return 'no_list';
  const { position = 0, mark = '' } = head;
  const after = yield* findStart(list.id, start);
  if (after === undefined) return 'no_point';
  const { gaps, marks } = yield* countGaps(list.id, after.position);
  const total = position - after.position - gaps;
  const updates = yield* sumUpdates(list, after.position);
  return { total, version: [mark, total, marks, updates].join('.'), after, gaps };
}

/** The start as a point that the list gave out. */
function* findStart(listId: string, start: Start): Plan<Point | undefined> {
  const position = start === 'start' ? 0 : start.position;
  const covering = yield* findPoint(listId, position);
  if (covering === undefined) return undefined;
  if (start === 'start') return { position, mark: covering.mark };
  return covering.mark === start.mark ? start : undefined;
}

/** The point of the transaction that gave a position. */
function* findPoint(listId: string, position: number): Plan<Point | undefined> {
  const [point] = yield* ask(pointFrom({ listId, position }));
  return point;
}

const pointFrom = prepareQuery<{ listId: string; position: number }, Point>((db, param) =>
  db
    .selectFrom('list_point')
    .select(['position', 'mark'])
    .where('list_id', '=', param('listId'))
    .where('position', '>=', param('position'))
    .orderBy('position')
    .limit(1),
);

function* sumUpdates<Item>({ updates }: FollowedList<Item>, after: number): Plan<number> {
  if (updates === undefined) return 0;
  const [sum] = yield* ask(updates(after));
  return Number(sum?.marks ?? 0);
}

interface Gaps {
  readonly gaps: number;
  readonly marks: number;
}

/** The gaps behind a position. */
function* countGaps(listId: string, after: number): Plan<Gaps> {
  const block = Math.floor(after / BLOCK);
  const [blocks] = yield* ask(laterBlocks({ listId, block }));
  const [near] = yield* ask(gapsBetween({ listId, after, until: (block + 1) * BLOCK }));
  const sum = (name: keyof Gaps) => Number(blocks?.[name] ?? 0) + Number(near?.[name] ?? 0);
  return { gaps: sum('gaps'), marks: sum('marks') };
}

const laterBlocks = prepareQuery<{ listId: string; block: number }, Gaps>((db, param) =>
  db
    .selectFrom('list_gap_block')
    .select(({ fn }) => [fn.sum<number>('gaps').as('gaps'), fn.sum<number>('marks').as('marks')])
    .where('list_id', '=', param('listId'))
    .where('block', '>', param('block')),
);

const gapsBetween = prepareQuery<{ listId: string; after: number; until: number }, Gaps>(
  (db, param) =>
    db
      .selectFrom('list_gap')
      .select(({ fn }) => [fn.countAll<number>().as('gaps'), fn.sum<number>('mark').as('marks')])
      .where('list_id', '=', param('listId'))
      .where('position', '>', param('after'))
      .where('position', '<', param('until')),
);

const blocksFrom = prepareQuery<{ listId: string; block: number }, { block: number; gaps: number }>(
  (db, param) =>
    db
      .selectFrom('list_gap_block')
      .select(['block', 'gaps'])
      .where('list_id', '=', param('listId'))
      .where('block', '>=', param('block'))
      .orderBy('block'),
);

/** Where the page at an offset begins: behind which position, and how many items of the same block to skip. */
function* findPlace(
  listId: string,
  { after: { position }, gaps }: FollowedHead,
  offset: number,
): Plan<{ after: number; skip: number }> {
  let [after, skip] = [position, offset];
  if (skip === 0 || gaps === 0) return { after: after + skip, skip: 0 };
  const first = Math.floor(after / BLOCK);
  for (const { block, gaps: ofBlock } of yield* ask(blocksFrom({ listId, block: first }))) {
    const begin = Math.max(after, block * BLOCK - 1);
    // Up to the block there is no gap.
    if (skip <= begin - after) break;
    skip -= begin - after;
    after = begin;
    const end = (block + 1) * BLOCK - 1;
    const within = block === first ? yield* countWithin(listId, after, end) : Number(ofBlock);
    const items = end - after - within;
    if (skip < items) return { after, skip };
    skip -= items;
    after = end;
  }
  return { after: after + skip, skip: 0 };
}

function* countWithin(listId: string, after: number, end: number): Plan<number> {
  const [near] = yield* ask(gapsBetween({ listId, after, until: end + 1 }));
  return Number(near?.gaps ?? 0);
}
