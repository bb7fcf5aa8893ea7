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
  const point = await db
    .selectFrom('list_point')
    .select('nonce')
    .where('list_id', '=', list.id)
    .where('position', '>=', after)
    .orderBy('position')
    .executeTakeFirstOrThrow();
  const start = { position: after, nonce: point.nonce };
  const head = await findFollowedHead(reader, list, start);
  if (typeof head === 'string') throw new Error(head);
  const page = await readFollowedPage(reader, list, { start, page: { limit, offset }, head });
  expect(head).toMatchObject({ total: page.total, version: page.version });
  return { ids: parseItems(page).map(({ id }) => id), total: page.total, point: page.point };
}
