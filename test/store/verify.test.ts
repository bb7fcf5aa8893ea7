import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { receiveInputs } from '../../scripts/receive.ts';
import { packSources } from '../../src/domain/sources/stored-sources.ts';
import type { Tx } from '../../src/store/engine/database.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { accountReportList } from '../../src/store/lists/timeline.ts';
import { repair, verify } from '../../src/store/verify/verify.ts';
import {
  aBareAccount,
  aDomain,
  anAlert,
  aRecord,
  aReport,
  aReportOf,
  NOW,
  receive,
} from '../support/builders.ts';
import { aStore } from '../support/store.ts';

const NAME = 'a.example';

const aReportOn = (day: string) =>
  aReportOf([aRecord({ sourceIp: '192.0.2.1', count: 5 })], {
    domain: NAME,
    begin: `2026-03-${day}T00:00:00Z`,
  });

/** A domain with reports of two days and two alerts, and a domain of another account. */
async function aFullStore() {
  const store = await aStore();
  const { db } = store;
  const accountId = await aBareAccount(db);
  const { id: domainId } = await aDomain(db, accountId, { name: NAME });
  await receive(db, ['10', '10', '11'].map(aReportOn));
  const bytes = Buffer.from('mail');
  const documents = [{ member: [], content: aReportOn('11'), authenticated: '' }];
  await receiveInputs(db, [{ name: 'mail', bytes, documents }], NOW);
  await anAlert(db, { accountId, domainId });
  await anAlert(db, { accountId, domainId }, { type: 'alert.other', resolvedAt: NOW });
  await aDomain(db, await aBareAccount(db), { name: 'b.example' });
  return { store, accountId, domainId };
}

const list = (store: Store) => Array.fromAsync(verify(store));

async function emptySources(tx: Tx): Promise<void> {
  const packed = { sources: packSources([]) };
  await tx.updateTable('domain_day').set(packed).where('day', '=', '2026-03-11').execute();
}

type Plant = string | ((tx: Tx) => Promise<void>);

const OF_DOMAIN = `where name = '${NAME}'`;
const NEWER = `'2026-03-20T00:00:00Z'`;

/** What is planted, and the table, the place and the figure that are named for it. */
const PLANTED: readonly (readonly [Plant, string, string | null, string])[] = [
  [`update domain set reports_total = 9 ${OF_DOMAIN}`, 'domain', null, 'reports_total'],
  [`update domain set last_report_at = ${NEWER} ${OF_DOMAIN}`, 'domain', null, 'last_report_at'],
  [`update domain set reports_position = 9 ${OF_DOMAIN}`, 'domain', null, 'reports_position'],
  [`update domain set reports_nonce = 'x' ${OF_DOMAIN}`, 'domain', null, 'reports_nonce'],
  [`update domain set alerts_total = 3 ${OF_DOMAIN}`, 'domain', null, 'alerts_total'],
  [`update domain set alerts_position = 7 ${OF_DOMAIN}`, 'domain', null, 'alerts_position'],
  [`update domain set alerts_nonce = 'x' ${OF_DOMAIN}`, 'domain', null, 'alerts_nonce'],
  [
    `update domain_day set reports = 3 where day = '2026-03-10'`,
    ...(['domain_day', '2026-03-10', 'reports'] as const),
  ],
  [
    `update domain_day set aligned = 4 where day = '2026-03-11'`,
    ...(['domain_day', '2026-03-11', 'aligned'] as const),
  ],
  [emptySources, 'domain_day', '2026-03-11', 'sources'],
  [
    `update domain_day set policy = 'p=reject' where day = '2026-03-10'`,
    ...(['domain_day', '2026-03-10', 'policy'] as const),
  ],
  ['update domain_receipt set bytes = bytes - 1', 'domain_receipt', '2026-03-15', 'bytes'],
  [
    'insert into list_gap (list_id, position, nonce) select domain_id, 2, 1 from report where position = 2',
    ...(['list_gap', null, 'held'] as const),
  ],
  ['update report set position = 3 where position = 2', 'list_gap', null, 'given_twice'],
  ['update list_day set items = 5', 'list_day', '2026-03-15', 'items'],
];

describe('verify', () => {
  test('finds nothing in a database whose figures are right', async () => {
    const { store } = await aFullStore();
    expect(await list(store)).toEqual([]);
  });

  test.each(PLANTED)('finds %s', async (plant, table, at, figure) => {
    const { store } = await aFullStore();
    await store.db.write(async (tx) => {
      if (typeof plant === 'string') await sql.raw(plant).execute(tx);
      else await plant(tx);
    });
    const wrong = expect.objectContaining({ table, of: NAME, at, figure });
    const found = await list(store);
    expect(found).toContainEqual(wrong);
    expect(found.map(({ of }) => of)).not.toContain('b.example');
    const mended = await Array.fromAsync(repair(store));
    expect(mended).toEqual(found.map((one) => ({ ...one, isMended: true })));
    expect(await list(store)).toEqual([]);
  });

  test.each([
    ['delete from list_day where list_id = LIST', 'list_day', '2026-03-11', 'items'],
    ['update list_day set items = 7 where list_id = LIST', 'list_day', '2026-03-10', 'items'],
    ['update account set reports_total = 9 where id = ACCOUNT', 'account', null, 'reports_total'],
    [
      'update account set reports_position = 9 where id = ACCOUNT',
      'account',
      null,
      'reports_position',
    ],
    [`update account set reports_nonce = 'x' where id = ACCOUNT`, 'account', null, 'reports_nonce'],
    ['update report set account_seq = null', 'account_arrival', null, 'found'],
    [
      `update report set account_seq = (select seq from account where id = ACCOUNT)`,
      ...(['account_arrival', null, 'only_found'] as const),
    ],
    ['update account_arrival set length = length - 1', 'account_arrival', null, 'followed'],
  ])('finds in an account’s list of reports: %s', async (plant, table, at, figure) => {
    const { store, accountId } = await aFullStore();
    await receive(store.db, [aReport({ domain: 'nobody.example' })]);
    const places = { ACCOUNT: accountId, LIST: accountReportList(accountId) };
    const text = plant.replace(/ACCOUNT|LIST/g, (name) => `'${places[name as 'LIST']}'`);
    await store.db.write((tx) => sql.raw(text).execute(tx));
    const found = await list(store);
    expect(found).toContainEqual(expect.objectContaining({ table, of: accountId, at, figure }));
    expect(new Set(found.map(({ of }) => of))).toEqual(new Set([accountId]));
    const mended = await Array.fromAsync(repair(store));
    expect(mended).toEqual(found.map((one) => ({ ...one, isMended: true })));
    expect(await list(store)).toEqual([]);
  });

  test.each(['domains_total', 'alerts_total', 'alerts_position', 'alerts_nonce'])(
    'finds that %s of an account is wrong',
    async (figure) => {
      const { store, accountId } = await aFullStore();
      const column = sql.raw(figure);
      await store.db.write((tx) =>
        sql`update account set ${column} = '7' where id = ${accountId}`.execute(tx),
      );
      expect(await list(store)).toMatchObject([{ table: 'account', of: accountId, figure }]);
      expect(await Array.fromAsync(repair(store))).toMatchObject([{ figure, isMended: true }]);
      expect(await list(store)).toEqual([]);
    },
  );

  test('finds a day without a row, and a row without a day', async () => {
    const { store } = await aFullStore();
    await store.db.write((tx) =>
      tx
        .updateTable('domain_day')
        .set({ day: '2026-03-12' })
        .where('day', '=', '2026-03-11')
        .execute(),
    );
    const days = (await list(store)).filter(
      ({ table, figure }) => table === 'domain_day' && figure === 'reports',
    );
    const [added, missing] = ['2026-03-12', '2026-03-11'];
    expect(days.map(({ at, stored, right }) => [at, stored, right])).toEqual([
      [added, 2, null],
      [missing, null, 2],
    ]);
    await Array.fromAsync(repair(store));
    expect(await list(store)).toEqual([]);
  });
});

describe('repair', () => {
  test('counts again what changed while it was counted', async () => {
    const { store } = await aFullStore();
    const { db, reader } = store;
    await db.write((tx) =>
      sql`update domain set reports_position = 3 ${sql.raw(OF_DOMAIN)}`.execute(tx),
    );
    let reads = 0;
    const readPlan: typeof reader.readPlan = async (plan) => {
      const result = await reader.readPlan(plan);
      reads += 1;
      if (reads < 20) await receive(db, [aReportOn(`${11 + reads}`)]);
      return result;
    };
    await Array.fromAsync(repair({ db, reader: { ...reader, readPlan } }));
    expect(reads).toBeGreaterThan(20);
    expect(await list(store)).toEqual([]);
  });

  test('gives a report that had the position of another a new one, which followers meet', async () => {
    const { store, domainId } = await aFullStore();
    const { db } = store;
    await db.write((tx) => sql`update report set position = 3 where position = 2`.execute(tx));
    const before = await db.selectFrom('domain').select('reports_generation').execute();
    await Array.fromAsync(repair(store));
    const positions = db.selectFrom('report').select('position').where('domain_id', '=', domainId);
    expect(
      (await positions.orderBy('position').execute()).map((row) => Number(row.position)),
    ).toEqual([1, 3, 4, 5]);
    expect(await db.selectFrom('domain').select('reports_generation').execute()).not.toEqual(
      before,
    );
    await receive(db, [aReportOn('20')]);
    expect(await list(store)).toEqual([]);
  });

  test('names what it cannot mend', async () => {
    const { store } = await aFullStore();
    await store.db.write((tx) => tx.deleteFrom('list_point').execute());
    const found = await Array.fromAsync(repair(store));
    expect(found).toContainEqual(
      expect.objectContaining({ of: NAME, figure: 'reports_position', isMended: false }),
    );
  });
});
