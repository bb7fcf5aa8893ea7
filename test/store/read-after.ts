import { expect } from 'vitest';
import type { Start } from '../../src/domain/cursor.ts';
import type { Store } from '../../src/store/engine/store.ts';
import {
  type FollowedList,
  findFollowedHead,
  readFollowedPage,
} from '../../src/store/lists/followed.ts';
import { parseItems } from '../../src/store/lists/page.ts';

/** The ids of a page behind a cursor, how many there are, and the cursor behind the page; `expired` for a bad cursor. */
export async function readAfter(
  { reader }: Pick<Store, 'reader'>,
  list: FollowedList<{ id: string }>,
  { start = 'start' as Start, limit = 200, offset = 0 } = {},
) {
  const head = await findFollowedHead(reader, list, start);
  if (typeof head === 'string') return head;
  const page = await readFollowedPage(reader, list, { start, page: { limit, offset }, head });
  if (typeof page === 'string') throw new Error(page);
  expect(head).toMatchObject({ total: page.total, version: page.version });
  return { ids: parseItems(page).map(({ id }) => id), total: page.total, cursor: page.cursor };
}
