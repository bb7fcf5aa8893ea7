import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { receiveInputs } from '../../scripts/receive.ts';
import { packSources } from '../../src/domain/sources/stored-sources.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { findHead } from '../../src/store/lists/page.ts';
import { accountReportList, alertList } from '../../src/store/lists/timeline.ts';
import { finishListings } from '../../src/store/reports/listing.ts';
import { reportsOfAccount } from '../../src/store/reports/reports.ts';
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
  return { store, accountId };
}

const list = (store: Store) => Array.fromAsync(verify(store));

const OF_DOMAIN = `where name = '${NAME}'`;
const NEWER = `'2026-03-20T00:00:00Z'`;

/** What is planted in a domain's figures, and the table, the place and the figure that are named for it. */
const IN_DOMAIN: readonly (readonly [string, string, string | null, string])[] = [
  [`update domain set reports_total = 9 ${OF_DOMAIN}`, 'domain', null, 'reports_total'],
  [`update domain set last_report_at = ${NEWER} ${OF_DOMAIN}`, 'domain', null, 'last_report_at'],
  [`update domain set alerts_total = 3 ${OF_DOMAIN}`, 'domain', null, 'alerts_total'],
  ['update report set account_seq = null', 'domain', null, 'is_listed'],
  ['update report set account_seq = account_seq + 1', 'domain', null, 'is_listed'],
  ...(['reports', 'messages', 'aligned', 'dkim_aligned', 'otherwise'] as const).map(
    (figure) =>
      [
        `update domain_day set ${figure} = ${figure} + 1 where day = '2026-03-10'`,
        ...(['domain_day', '2026-03-10 established', figure] as const),
      ] as const,
  ),
  [
    `update domain_day set policy = 'p=reject' where day = '2026-03-10'`,
    ...(['domain_day', '2026-03-10 established', 'policy'] as const),
  ],
  [
    `delete from domain_day where day = '2026-03-11' and belief = 'other'`,
    ...(['domain_day', '2026-03-11 other', 'reports'] as const),
  ],
  [
    `update domain_day set belief = 'disputed' where belief = 'other'`,
    ...(['domain_day', '2026-03-11 disputed', 'reports'] as const),
  ],
  [`update list_day set items = 5`, 'list_day of alerts', '2026-03-15', 'items'],
  [
    `update list_day set day = '2026-03-16' where day = '2026-03-15'`,
    'list_day of alerts',
    '2026-03-16',
    'items',
  ],
];

/** The same for an account's figures. */
const IN_ACCOUNT: readonly (readonly [string, string, string | null, string])[] = [
  ...['domains_total', 'reports_total', 'alerts_total'].map(
    (figure) =>
      [`update account set ${figure} = 9 where id = ACCOUNT`, 'account', null, figure] as const,
  ),
  ['update account set changes = 3 where id = ACCOUNT', 'account', null, 'changes'],
  ['delete from list_day where list_id = REPORTS', 'list_day of reports', '2026-03-11', 'items'],
  [
    'update list_day set items = 7 where list_id = REPORTS',
    ...(['list_day of reports', '2026-03-10', 'items'] as const),
  ],
  [
    'update list_day set items = 7 where list_id = ALERTS',
    ...(['list_day of alerts', '2026-03-15', 'items'] as const),
  ],
];

describe('verify', () => {
  test('finds nothing in a database whose figures are right', async () => {
    const { store } = await aFullStore();
    expect(await list(store)).toEqual([]);
  });

  test.each(IN_DOMAIN)('finds, and repair mends: %s', async (plant, table, at, figure) => {
    const { store } = await aFullStore();
    await store.db.write((tx) => sql.raw(plant).execute(tx));
    const found = await mend(store);
    expect(found).toContainEqual(expect.objectContaining({ table, of: NAME, at, figure }));
    expect(found.map(({ of }) => of)).not.toContain('b.example');
  });

  test.each(IN_ACCOUNT)('finds, and repair mends: %s', async (plant, table, at, figure) => {
    const { store, accountId } = await aFullStore();
    const places = {
      ...{
        ACCOUNT: accountId,
        REPORTS: accountReportList(accountId),
        ALERTS: alertList(accountId),
      },
    };
    const text = plant.replace(/[A-Z]+$/, (name) => `'${places[name as 'ACCOUNT']}'`);
    await store.db.write((tx) => sql.raw(text).execute(tx));
    const found = await mend(store);
    expect(found).toContainEqual(expect.objectContaining({ table, of: accountId, at, figure }));
    expect(new Set(found.map(({ of }) => of))).toEqual(new Set([accountId]));
  });

  /** What was found. All of it is mended then. */
  async function mend(store: Store) {
    const found = await list(store);
    const mended = await Array.fromAsync(repair(store));
    expect(mended).toEqual(found.map((one) => ({ ...one, isMended: true })));
    expect(await list(store)).toEqual([]);
    return found;
  }

  test('finds a cache of a day’s sources that is not what the reports say, and repair mends it', async () => {
    const { store } = await aFullStore();
    const cache = { sources: packSources([]) };
    await store.db.write((tx) =>
      tx.updateTable('domain_day').set(cache).where('day', '=', '2026-03-11').execute(),
    );
    const places = ['established', 'other'].map((belief) => ({
      ...{ table: 'domain_day', of: NAME, at: `2026-03-11 ${belief}`, figure: 'sources' },
    }));
    expect(await mend(store)).toMatchObject(places);
  });

  test('finds reports that an account’s list lacks or has too many, and the listing goes on with them', async () => {
    const { store, accountId } = await aFullStore();
    const { db, reader } = store;
    await receive(db, [aReport({ domain: 'nobody.example' })]);
    const head = async () => await findHead(reader, reportsOfAccount(accountId));
    const before = await head();
    await db.write(async (tx) => {
      const { domain_seq } = await tx
        .selectFrom('report')
        .select('domain_seq')
        .where('account_seq', 'is', null)
        .executeTakeFirstOrThrow();
      await tx
        .updateTable('report')
        .set(({ selectFrom, val }) => ({
          account_seq: selectFrom('account').select('seq').where('id', '=', accountId),
          number: val(1),
        }))
        .where('domain_seq', '=', domain_seq)
        .execute();
      await sql`update report set account_seq = null where begin_date < '2026-03-11'`.execute(tx);
    });
    const found = (await list(store)).filter(({ figure }) => figure === 'is_listed');
    expect(found.map(({ of }) => of).sort()).toEqual([NAME, 'nobody.example']);
    await Array.fromAsync(repair(store));
    expect(await list(store)).toEqual([]);
    expect(await finishListings(db, async () => true)).toBe(true);
    expect(await list(store)).toEqual([]);
    expect((await head())?.total).toBe(before?.total);
  });

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
    // They come in no order.
    expect(days.map(({ at, stored, right }) => [at, stored, right]).toSorted()).toEqual([
      [`${missing} established`, null, 1],
      [`${missing} other`, null, 1],
      [`${added} established`, 1, null],
      [`${added} other`, 1, null],
    ]);
    await Array.fromAsync(repair(store));
    expect(await list(store)).toEqual([]);
  });
});

describe('repair', () => {
  /** A store in which something comes in after each of the first so many reads. */
  function changing({ db, reader }: Store, reads: number) {
    let count = 0;
    const readPlan: typeof reader.readPlan = async (plan) => {
      const result = await reader.readPlan(plan);
      count += 1;
      if (count <= reads) await receive(db, [aReportOn('12')]);
      return result;
    };
    return { store: { db, reader: { ...reader, readPlan } }, count: () => count };
  }

  const plant = ({ db }: Store) =>
    db.write((tx) => sql`update domain set reports_total = 9 ${sql.raw(OF_DOMAIN)}`.execute(tx));

  test('counts again what changed while it was counted', async () => {
    const { store } = await aFullStore();
    await plant(store);
    const changed = changing(store, 10);
    const mended = await Array.fromAsync(repair(changed.store));
    expect(mended).toMatchObject([{ of: NAME, figure: 'reports_total', isMended: true }]);
    expect(changed.count()).toBeGreaterThan(10);
    expect(await list(store)).toEqual([]);
  });

  test('names what it cannot mend, because it changes all the time', async () => {
    const { store } = await aFullStore();
    await plant(store);
    const mended = await Array.fromAsync(repair(changing(store, Number.POSITIVE_INFINITY).store));
    expect(mended).toContainEqual(
      expect.objectContaining({ of: NAME, figure: 'reports_total', isMended: false }),
    );
  });
});
