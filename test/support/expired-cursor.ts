import { parseStart, toCursor } from '../../src/domain/cursor.ts';

/** The cursor of a change that the database does not have, as after a restore to a moment before it. */
export function toExpired(listId: string, cursor: string): string {
  const start = parseStart(listId, cursor);
  if (start === undefined || start === 'start')
    throw new Error(`no cursor of ${listId}: ${cursor}`);
  return toCursor(listId, {
    ...start,
    nonce: start.nonce === 'AAAAAAAA' ? 'BBBBBBBB' : 'AAAAAAAA',
  });
}
