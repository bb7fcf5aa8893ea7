import { describe, expect, test } from 'vitest';
import type { Point } from '../../src/domain/cursor.ts';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import { settleAlert } from '../../src/store/alerts/alerts.ts';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import type { Db, Tx } from '../../src/store/engine/database.ts';
import { runAllPrepared } from '../../src/store/engine/prepared.ts';
import type { Store } from '../../src/store/engine/store.ts';
import {
  changeInserts,
  deleteOldChanges,
  findChange,
  toRow,
} from '../../src/store/lists/changes.ts';
import { preferConflict, removeReport } from '../../src/store/reports/corrections.ts';
import { readNow } from '../../src/store/work/clock.ts';
import {
  aBareAccount,
  aDomain,
  anAlert,
  aReport,
  NOW,
  receive,
  resolveAlert,
} from '../support/builders.ts';
import { aStore } from '../support/store.ts';

const always = async () => true;

/** The newest change of an account. */
async function readNewest(db: Db, accountId: string): Promise<Point & { readonly seq: number }> {
  const account = db.selectFrom('account').where('id', '=', accountId);
  return await account
    .select(['seq', 'changes as number', 'changes_nonce as nonce'])
    .executeTakeFirstOrThrow();
}

async function listChanges(db: Db, accountSeq: number) {
  const changes = db.selectFrom('change').select(['number', 'nonce', 'type', 'report_id']);
  return await changes.where('account_seq', '=', accountSeq).orderBy('number').execute();
}

describe('an account’s numbers', () => {
  test('only grow, one for each change, and each transaction has a row with its last one', async () => {
    const { db } = await aStore();
    const accountId = await aBareAccount(db);
    const { seq } = await readNewest(db, accountId);
    const [one, two, three] = ['1', '2', '3'].map((reportId) => aReport({ reportId }));
    if (!one || !two || !three) throw new Error('There are three.');
    let [domainId, alertId] = ['', ''];
    const take = async (change: () => Promise<unknown>) => {
      const before = await readNewest(db, accountId);
      await change();
      const after = await readNewest(db, accountId);
      const rows = await listChanges(db, seq);
      expect(rows.at(-1)).toMatchObject({ number: after.number, nonce: after.nonce });
      const added = rows.filter(({ number }) => number > before.number);
      return added.map(({ number, type }, i) => {
        const last = added[i - 1]?.number ?? before.number;
        return [number - last, type];
      });
    };
    const addDomain = async () => {
      domainId = (await aDomain(db, accountId, { name: 'example.com' })).id;
    };
    const fire = async () => {
      alertId = await anAlert(db, { accountId, domainId });
    };
    const other = aReport({ reportId: '1', payload: 'other' });
    const context = JSON.stringify({ drop_pct: 1 });
    expect(await take(addDomain)).toEqual([[1, null]]);
    expect(await take(() => receive(db, [one, two, three]))).toEqual([[3, null]]);
    expect(await take(() => receive(db, [one, other]))).toEqual([]);
    expect(await take(() => preferConflict(db, 1))).toEqual([[1, null]]);
    expect(await take(fire)).toEqual([[1, null]]);
    const update = () => db.write((tx) => settleAlert(tx, alertId, { context }));
    expect(await take(update)).toEqual([[1, null]]);
    expect(await take(() => resolveAlert(db, alertId, NOW))).toEqual([[1, null]]);
    expect(await take(() => removeReport(db, toReportId(two), NOW))).toEqual([
      [1, 'report.removed'],
    ]);
    expect(await take(() => updateDomainStatus(db, domainId, 'paused'))).toEqual([
      [1, 'domain.unlisted'],
    ]);
    expect(await take(() => receive(db, [aReport({ reportId: '4' })]))).toEqual([]);
    expect(await take(() => updateDomainStatus(db, domainId, 'paused'))).toEqual([]);
    expect(await take(() => updateDomainStatus(db, domainId, 'active'))).toEqual([
      [1, null],
      [3, null],
    ]);
    expect(await take(() => removeDomain(db, domainId))).toEqual([[1, 'domain.removed']]);
  });

  test('are those of the rows: reports in the order of their arrival, and alerts', async () => {
    const { db } = await aStore();
    const accountId = await aBareAccount(db);
    const owner = { accountId, domainId: (await aDomain(db, accountId, { name: 'a.example' })).id };
    await receive(db, [aReport({ domain: 'a.example' }), aReport({ domain: 'a.example' })]);
    const alertId = await anAlert(db, owner);
    await db.write((tx) => settleAlert(tx, alertId, { context: '{}' }));
    const reports = db.selectFrom('report').select('number').orderBy('seq');
    expect((await reports.execute()).map(({ number }) => number)).toEqual([2, 3]);
    const alert = db.selectFrom('alert').select(['number', 'last_change']);
    expect(await alert.execute()).toEqual([{ number: 4, last_change: 5 }]);
    expect(await db.selectFrom('domain').select('number').execute()).toEqual([{ number: 1 }]);
  });

  test('are given once, whatever transactions take them at the same time', async () => {
    const { db } = await aStore();
    const accountId = await aBareAccount(db);
    const names = Array.from({ length: 8 }, (_, i) => `d${i}.example`);
    for (const name of names) await aDomain(db, accountId, { name });
    await Promise.all(
      names.map((domain) => receive(db, [aReport({ domain }), aReport({ domain })])),
    );
    const reports = await db.selectFrom('report').select('number').orderBy('number').execute();
    expect(reports.map(({ number }) => number)).toEqual(
      Array.from({ length: 16 }, (_, i) => i + 9),
    );
    expect(await readNewest(db, accountId)).toMatchObject({ number: 24 });
  });
});

describe('findChange', () => {
  /** An account whose transactions took the numbers 1, 2 to 4, and 5. */
  async function aHistory() {
    const store = await aStore();
    const { db } = store;
    const accountId = await aBareAccount(db);
    await aDomain(db, accountId, { name: 'example.com' });
    await receive(db, [aReport(), aReport(), aReport()]);
    await receive(db, [aReport()]);
    const newest = await readNewest(db, accountId);
    const find = (point: Point) =>
      store.reader.readPlan(() => findChange(accountId, point, newest));
    return { store, newest, find, rows: await listChanges(db, newest.seq) };
  }

  test('knows the last number of each transaction, with its nonce', async () => {
    const { find, rows } = await aHistory();
    expect(rows.map(({ number }) => number)).toEqual([0, 1, 4, 5]);
    for (const row of rows) expect(await find(row), `${row.number}`).toBe('known');
  });

  test('has lost others: of another nonce, within a transaction, and not taken yet', async () => {
    const { find, rows } = await aHistory();
    for (const { number } of rows)
      expect(await find({ number, nonce: 'AAAAAAAA' }), `${number}`).toBe('lost');
    for (const number of [2, 3, 6, 2 ** 47])
      expect(await find({ number, nonce: rows.at(-1)?.nonce ?? '' }), `${number}`).toBe('lost');
  });

  test('forgets what is older than the first row that is kept, and nothing else', async () => {
    const { store, newest, find, rows } = await aHistory();
    const { db } = store;
    const date = (tx: Tx, at: string) => tx.updateTable('change').set({ at });
    const now = await readNow(db);
    await db.write(async (tx) => {
      await date(tx, LONG_AGO).where('number', '<', 5).execute();
      await date(tx, now).where('number', '=', 5).execute();
    });
    expect(await deleteOldChanges(db, always)).toBe(true);
    expect(await listChanges(db, newest.seq)).toHaveLength(1);
    const found = [];
    for (const row of rows) found.push(await find(row));
    expect(found).toEqual(['forgotten', 'forgotten', 'forgotten', 'known']);
    expect(await find({ number: 5, nonce: 'AAAAAAAA' })).toBe('lost');
    expect(await find({ number: 6, nonce: 'AAAAAAAA' })).toBe('lost');
    await db.write((tx) => date(tx, LONG_AGO).execute());
    await deleteOldChanges(db, always);
    expect(await listChanges(db, newest.seq)).toMatchObject([{ number: newest.number }]);
    expect(await find(newest)).toBe('known');
    // The newest row stays for this: it is only old.
    expect(await find(rows[2] as Point)).toBe('forgotten');
  });
});

/** Before the oldest moment of which changes are kept. */
const LONG_AGO = '2001-01-01T00:00:00Z';

describe('deleteOldChanges', () => {
  const OLD = 2_500;

  /** Two accounts with many old changes, and a few new ones. */
  async function aLongHistory(): Promise<Store & { counts: () => Promise<number[]> }> {
    const store = await aStore();
    const { db } = store;
    const now = await readNow(db);
    for (const _ of [1, 2]) {
      const { seq: accountSeq } = await readNewest(db, await aBareAccount(db));
      const rows = Array.from({ length: OLD + 3 }, (_, i) =>
        toRow({ at: i < OLD ? LONG_AGO : now }, { accountSeq, number: i + 1, nonce: 'AAAAAAAA' }),
      );
      await db.write((tx) => runAllPrepared(tx, changeInserts(rows)));
    }
    await db.write((tx) => tx.deleteFrom('change').where('number', '=', 0).execute());
    const counts = async () => {
      const rows = await db
        .selectFrom('change')
        .select(({ fn }) => fn.countAll<number>().as('rows'))
        .groupBy('account_seq')
        .orderBy('account_seq')
        .execute();
      return rows.map(({ rows }) => Number(rows));
    };
    return { ...store, counts };
  }

  test('deletes in bounded transactions, and goes on where it stopped', async () => {
    const { db, counts } = await aLongHistory();
    let most = 0;
    const write: Db['write'] = async (change) => {
      const before = (await counts()).reduce((all, one) => all + one);
      const result = await db.write(change);
      most = Math.max(most, before - (await counts()).reduce((all, one) => all + one));
      return result;
    };
    const bounded = { ...db, write };
    expect(await deleteOldChanges(bounded, async () => false)).toBe(false);
    expect(await counts()).toEqual([OLD + 3 - 1_000, OLD + 3]);
    expect(await deleteOldChanges(bounded, always)).toBe(true);
    expect([await counts(), most]).toEqual([[3, 3], 1_000]);
    expect(await deleteOldChanges(bounded, always)).toBe(true);
    expect(await counts()).toEqual([3, 3]);
  });

  test('keeps all rows after the first one that is kept: clocks of processes differ', async () => {
    const { db, counts } = await aLongHistory();
    const now = await readNow(db);
    await db.write((tx) =>
      tx.updateTable('change').set({ at: now }).where('number', '=', 2_000).execute(),
    );
    expect(await deleteOldChanges(db, always)).toBe(true);
    expect(await counts()).toEqual([504, 504]);
  });
});
