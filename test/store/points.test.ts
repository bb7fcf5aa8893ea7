import { describe, expect, test } from 'vitest';
import { parseStart, toCursor } from '../../src/domain/cursor.ts';
import { insertGaps } from '../../src/store/lists/points.ts';
import { reportsOf } from '../../src/store/reports/reports.ts';
import { aDomain, anAccount, aReport, receive } from '../support/builders.ts';
import { aStore } from '../support/store.ts';
import { readAfter } from './read-after.ts';

const BLOCK = 1_024;

test('pages behind any point are exact over thousands of positions, with gaps anywhere', async () => {
  const store = await aStore();
  const { id: accountId } = await anAccount(store.db);
  const domain = await aDomain(store.db, accountId);
  const count = 3 * BLOCK + 100;
  const reports = Array.from({ length: count }, () => aReport({ domain: domain.name }));
  await receive(store.db, reports);
  const list = reportsOf({ accountId, domainId: domain.id });
  const isGone = (position: number) =>
    position % 7 === 0 || (position > 1.2 * BLOCK && position < 2.2 * BLOCK);
  await store.db.write(async (tx) => {
    for (let position = 1; position <= count; position++) {
      if (!isGone(position)) continue;
      await tx.deleteFrom('report').where('position', '=', position).execute();
      await insertGaps(tx, list.id, [position]);
    }
  });
  const rows = await store.db.selectFrom('report').select(['id', 'position']).execute();
  const left = rows.toSorted((a, b) => a.position - b.position);
  for (const after of [0, 6, 7, 8, BLOCK - 1, BLOCK, 1_500, 2 * BLOCK, 2_300, count - 1, count]) {
    const behind = left.filter(({ position }) => position > after);
    for (const offset of [0, 1, 5, 700, BLOCK, 1_200, 1_300, 2_000, behind.length]) {
      const { ids, total, point } = await readAfter(store, list, { after, limit: 3, offset });
      const expected = behind.slice(offset, offset + 3);
      expect([ids, total], `${after} ${offset}`).toEqual([
        expected.map(({ id }) => id),
        behind.length,
      ]);
      expect(point.position).toBe(expected.at(-1)?.position ?? after);
    }
  }
}, 240_000);

describe('a cursor', () => {
  const newest = { position: 2 ** 48 - 1, nonce: 'zaZA90_-' };
  const point = { position: 2 ** 47, nonce: 'AZaz09-_', generation: 2 ** 32 - 1, newest };

  test('is the text of a point, for one list', () => {
    const cursor = toCursor('reports:a', point);
    expect(cursor).toMatch(/^p[A-Za-z0-9_-]{46}$/);
    expect(parseStart('reports:a', cursor)).toEqual(point);
    expect(parseStart('reports:b', cursor)).toBeUndefined();
  });

  test.each(['', 'p', 'Start', `${'p'.repeat(47)}`, 'é'.repeat(47)])('%s is none', (text) => {
    expect(parseStart('reports:a', text)).toBeUndefined();
  });
});
