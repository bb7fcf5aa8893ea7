import type { GivenPoint, Point, Start } from '../../domain/cursor.ts';
import { type BoundQuery, prepareQuery } from '../engine/prepared.ts';
import { ask, askAll, type Plan } from '../engine/reader.ts';

/* Which points a list gave out (points.ts). */

export interface ListWithPoints {
  readonly id: string;
  /** The first item at a position or behind it, as a point, where items have the nonce of their transaction. */
  readonly point?: (position: number) => BoundQuery<Point>;
}

interface Bounds {
  /** Nothing before it is the list's. */
  readonly begin: number;
  readonly newest: Point;
}

/** The start as a point that the list gave out. */
export function* findStart(
  list: ListWithPoints,
  start: Start,
  bounds: Bounds,
): Plan<Point | undefined> {
  const { begin, newest } = bounds;
  // Of a domain whose oldest reports went while nobody had it, the list begins later (retention/eviction.ts).
  if (start === 'start') return yield* findPoint(list, begin);
  const { position, nonce } = start;
  const isKnown =
    position >= begin &&
    (yield* hasPoint(list, start.newest, newest)) &&
    ((position === start.newest.position && nonce === start.newest.nonce) ||
      (yield* hasPoint(list, start, newest)));
  if (isKnown) return { position, nonce };
  return yield* findForgotten(list, start, bounds);
}

/**
 * The beginning of a list for a point before it: what was there went by age (retention/old-reports.ts), and its points
 * with it. What the client saw behind the beginning must still be there.
 */
function* findForgotten(
  list: ListWithPoints,
  start: GivenPoint,
  { begin: position, newest }: Bounds,
): Plan<Point | undefined> {
  const [first] = yield* ask(pointFrom({ listId: list.id, position }));
  const begin = { nonce: first?.nonce ?? '', position: Number(first?.position ?? 0) };
  // 0 where nothing went.
  if (begin.position === 0 || start.position > begin.position) return undefined;
  const isKnown =
    start.newest.position <= begin.position || (yield* hasPoint(list, start.newest, newest));
  return isKnown ? begin : undefined;
}

/** Whether the list, whose newest point is given, gave a point out. */
function* hasPoint(list: ListWithPoints, { position, nonce }: Point, newest: Point): Plan<boolean> {
  if (position === newest.position) return nonce === newest.nonce;
  return (yield* findPoint(list, position))?.nonce === nonce;
}

/** The point of the transaction that gave a position. */
export function* findPoint(
  { id, point }: ListWithPoints,
  position: number,
): Plan<Point | undefined> {
  const ofList = pointFrom({ listId: id, position });
  if (point === undefined) return (yield* ask(ofList))[0];
  const [[stored], [item]] = yield* askAll(ofList, point(position));
  if (stored === undefined || item === undefined) return stored ?? item;
  return stored.position < item.position ? stored : item;
}

const pointFrom = prepareQuery<{ listId: string; position: number }, Point>((db, param) =>
  db
    .selectFrom('list_point')
    .select(['position', 'nonce'])
    .where('list_id', '=', param('listId'))
    .where('position', '>=', param('position'))
    .orderBy('position')
    .limit(1),
);
