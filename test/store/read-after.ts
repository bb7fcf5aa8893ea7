import { expect } from 'vitest';
import type { Store } from '../../src/store/engine/store.ts';
import {
  type FollowedList,
  findFollowedHead,
  readFollowedPage,
} from '../../src/store/lists/followed.ts';
import { parseItems } from '../../src/store/lists/page.ts';

/** The ids of a page behind a position, and how many there are. */
export async function readAfter(
  { reader, db }: Store,
  list: FollowedList<{ id: string }>,
  { after = 0, limit = 200, offset = 0 } = {},
) {
  const points = await db
    .selectFrom('list_point')
    .select(['position', 'nonce'])
    .where('list_id', '=', list.id)
    .unionAll(
      db.selectFrom('report').select(['position', 'nonce']).where('domain_id', '=', list.id),
    )
    .execute();
  const [covering] = points
    .filter(({ position }) => position >= after)
    .sort((a, b) => a.position - b.position);
  const [{ generation = 0 } = {}] = await reader.readAll(list.head);
  const point = { position: after, nonce: covering?.nonce ?? '' };
  const start = { ...point, generation, newest: point };
  const head = await findFollowedHead(reader, list, start);
  if (typeof head === 'string') throw new Error(head);
  const page = await readFollowedPage(reader, list, { start, page: { limit, offset }, head });
  if (typeof page === 'string') throw new Error(page);
  expect(head).toMatchObject({ total: page.total, version: page.version });
  return { ids: parseItems(page).map(({ id }) => id), total: page.total, point: page.point };
}
