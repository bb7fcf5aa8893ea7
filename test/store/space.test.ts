import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Db } from '../../src/store/engine/database.ts';
import { giveBackSpace } from '../../src/store/engine/given-back.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { NOW } from '../support/builders.ts';
import { aDatabasePath, aStore, IS_POSTGRES } from '../support/store.ts';

/** Some 16 MB of documents, of which one is left. */
async function fillAndEmpty(db: Db): Promise<void> {
  await db.write((tx) =>
    sql`insert into document (received_at, input_bytes, input_sha256, path, input_name, content)
      with recursive n (i) as (values (1) union all select i + 1 from n where i < 2000)
      select ${NOW}, 1, randomblob(32), '', 'x', randomblob(8000) from n`.execute(tx),
  );
  await db.write((tx) => sql`delete from document where seq <> 2000`.execute(tx));
}

const measure = async (db: Db) => {
  const pages = sql<{ pages: number }>`select page_count as pages from pragma_page_count`;
  return (await pages.execute(db as never)).rows[0]?.pages ?? 0;
};

test.skipIf(IS_POSTGRES)(
  'a file gets smaller after much was deleted, in transactions of bounded size, and is whole',
  async () => {
    const path = aDatabasePath();
    const { db, close } = await openStore(path);
    await fillAndEmpty(db);
    const before = await measure(db);
    let [writes, last, most] = [0, before, 0];
    const write: Db['write'] = async (change) => {
      const result = await db.write(change);
      const now = await measure(db);
      [writes, last, most] = [writes + 1, now, Math.max(most, last - now)];
      return result;
    };
    const bytes = await giveBackSpace({ ...db, write });
    expect(bytes).toBe((before - last) * 8192);
    expect(last).toBeLessThan(before / 4);
    expect(writes).toBeGreaterThan(3);
    // And the page that says where pages are.
    expect(most).toBeLessThanOrEqual(501);
    expect(await giveBackSpace(db)).toBe(0);
    await close();
    const file = new Database(path);
    expect(file.pragma('integrity_check', { simple: true })).toBe('ok');
    file.close();
  },
);

test('where few pages are free nothing is moved, and a pause ends it', async () => {
  const { db } = await aStore();
  expect(await giveBackSpace(db)).toBe(0);
  if (!IS_POSTGRES) await fillAndEmpty(db);
  expect(await giveBackSpace(db, async () => false)).toBe(0);
});
