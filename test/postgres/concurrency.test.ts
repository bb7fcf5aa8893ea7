import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { lockDomain } from '../../src/store/lists/heads.ts';
import { lockReportedDomains } from '../../src/store/reports/reported-domains.ts';
import { aBareAccount, aDomain, aReport, NOW, receive, toCode } from '../support/builders.ts';
import { IS_CITUS } from '../support/citus-databases.ts';
import { caseCount } from '../support/counts.ts';
import { runTogether } from '../support/processes.ts';
import { listMiscounts } from '../support/recount.ts';
import { aDatabase, aStore } from '../support/store.ts';

const IMPORTS = `
  import { receiveInputs } from 'scripts/receive.ts';
  import { openStore } from 'src/store/engine/open.ts';
  const { db } = await openStore(process.argv[1], { maxConnections: 4 });
  const own = Number(process.argv[2]);
  const given = ${toCode(aReport())};
  const reportOf = (domain, reportId, begin) => ({
    ...given,
    metadata: { ...given.metadata, reportId: String(reportId), begin, end: begin + 86399 },
    policyPublished: { ...given.policyPublished, domain },
    payloadSha256: String(reportId).padStart(64, '0'),
  });
  const store = async (name, reports) => {
    const documents = reports.map((content) => ({ member: [], content }));
    return await receiveInputs(db, [{ name, bytes: Buffer.from(name), documents }], '${NOW}');
  };`;

async function countReports({ db }: Store): Promise<number> {
  const { count } = await db
    .selectFrom('report')
    .select((eb) => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

const PROCESSES = caseCount({ few: 6, full: 10 });
const REPORTS = caseCount({ few: 100, full: 300 });

test(`${PROCESSES} processes ingest the same ${REPORTS} reports at the same time: each is stored once`, async () => {
  const database = await aDatabase();
  const store = await openStore(database);
  const accountId = await aBareAccount(store.db);
  for (let i = 0; i < 7; i++) await aDomain(store.db, accountId, { name: `d${i}.example` });
  // Half of the domains are registered. Each process has the same files, and begins elsewhere.
  const printed = await runTogether(
    PROCESSES,
    database,
    `${IMPORTS}
    const count = { stored: 0, unclaimed: 0, duplicate: 0 };
    for (let i = 0; i < ${REPORTS / 10}; i++) {
      const file = (i + own * 7) % ${REPORTS / 10};
      const reports = Array.from({ length: 10 }, (_, n) => {
        const id = file * 10 + n;
        return reportOf('d' + id % 14 + '.example', id, 1773446400 + id % 5 * 86400);
      });
      for (const outcome of await store('file ' + file, reports)) count[outcome] += 1;
    }
    console.log(count.stored + count.unclaimed);`,
  );
  const stored = printed.reduce((sum, text) => sum + Number(text), 0);
  expect(stored).toBe(REPORTS);
  expect(await countReports(store)).toBe(REPORTS);
  expect(await store.db.selectFrom('conflict').selectAll().execute()).toEqual([]);
  expect(await listMiscounts(store.db)).toEqual({});
  await store.close();
});

const HISTORIES = caseCount({ few: 25, full: 60 });

test(`4 processes store ${HISTORIES} times for many domains in random order: none fails, every count is right`, async () => {
  const database = await aDatabase();
  const store = await openStore(database);
  const accounts = [await aBareAccount(store.db), await aBareAccount(store.db)];
  for (let i = 0; i < 10; i++)
    await aDomain(store.db, accounts[i % 2] as string, { name: `d${i}.example` });
  const printed = await runTogether(
    4,
    database,
    `${IMPORTS}
    let sum = 0;
    for (let i = 0; i < ${HISTORIES}; i++) {
      const reports = Array.from({ length: 1 + Math.floor(Math.random() * 12) }, (_, n) => {
        const id = own * 1e6 + i * 100 + n;
        const day = Math.floor(Math.random() * 40);
        return reportOf('d' + Math.floor(Math.random() * 20) + '.example', id, 1773446400 + day * 86400);
      });
      sum += (await store('file ' + own + ' ' + i, reports)).length;
    }
    console.log(sum);`,
  );
  const sum = printed.reduce((total, text) => total + Number(text), 0);
  expect(await countReports(store)).toBe(sum);
  expect(await listMiscounts(store.db)).toEqual({});
  await store.close();
});

describe('transactions that wait for one another', () => {
  test('both succeed: the one that the server ends runs again from its beginning', async ({
    skip,
  }) => {
    skip(IS_CITUS);
    const { db } = await aStore();
    const accountId = await aBareAccount(db);
    const ids = [(await aDomain(db, accountId)).id, (await aDomain(db, accountId)).id];
    const bothHold = Promise.withResolvers<void>();
    let held = 0;
    let runs = 0;
    const change = (order: readonly string[]) =>
      db.write(async (tx) => {
        runs += 1;
        for (const id of order) {
          await tx
            .updateTable('domain')
            .set((eb) => ({ reports_total: eb('reports_total', '+', 1) }))
            .where('id', '=', id)
            .execute();
          held += 1;
          if (held === 2) bothHold.resolve();
          await bothHold.promise;
        }
      });
    await Promise.all([change(ids), change(ids.toReversed())]);
    expect(runs).toBe(3);
    const rows = await db.selectFrom('domain').select('reports_total').execute();
    expect(rows.map(({ reports_total }) => reports_total)).toEqual([2, 2]);
  });

  test('a serialization failure that does not end is the caller’s error after eight tries', async () => {
    const { db } = await aStore();
    let runs = 0;
    const change = db.write(async () => {
      runs += 1;
      throw Object.assign(new Error('could not serialize access'), { code: '40001' });
    });
    await expect(change).rejects.toMatchObject({ code: 'unavailable' });
    expect(runs).toBe(8);
  });

  test('an error of a value is not tried again', async () => {
    const { db } = await aStore();
    const accountId = await aBareAccount(db);
    let runs = 0;
    const change = db.write(async (tx) => {
      runs += 1;
      const row = await tx.selectFrom('account').selectAll().executeTakeFirstOrThrow();
      await tx.insertInto('account').values(row).execute();
    });
    await expect(change).rejects.toMatchObject({ code: '23505' });
    expect(runs).toBe(1);
    expect(accountId).toHaveLength(36);
  });
});

test('a change of a domain waits for the change of another process, and a page does not', async () => {
  const database = await aDatabase();
  const [one, other] = [await openStore(database), await openStore(database)];
  await aDomain(one.db, await aBareAccount(one.db), { name: 'example.com' });
  const release = Promise.withResolvers<void>();
  const holds = Promise.withResolvers<void>();
  const holding = other.db.write(async (tx) => {
    await tx.updateTable('domain').set({ reports_total: 0 }).execute();
    holds.resolve();
    await release.promise;
  });
  await holds.promise;
  let isStored = false;
  const storing = receive(one.db, [aReport({ domain: 'example.com' })]).then(() => {
    isStored = true;
  });
  for (let i = 0; i < 20; i++) await one.db.selectFrom('domain').selectAll().execute();
  expect(isStored).toBe(false);
  release.resolve();
  await Promise.all([holding, storing]);
  expect(await countReports(other)).toBe(1);
  expect(await listMiscounts(one.db)).toEqual({});
  await Promise.all([one.close(), other.close()]);
});

test('a domain’s status is that of the last change that waited for its row, on every server', async () => {
  const { db, close } = await openStore(await aDatabase());
  const { id } = await aDomain(db, await aBareAccount(db));
  await updateDomainStatus(db, id, 'paused');
  const changes: Promise<unknown>[] = [];
  await db.write(async (tx) => {
    await lockDomain(tx, id);
    for (const status of ['active', 'paused'] as const) {
      changes.push(updateDomainStatus(db, id, status));
      await expect.poll(() => countWaiting(db)).toBe(changes.length);
    }
  });
  await Promise.all(changes);
  const domains = await db.selectFrom('domain').select('status').execute();
  expect(domains).toEqual([{ status: 'paused' }]);
  expect(await listMiscounts(db)).toEqual({});
  await close();
});

test('a change that waits while reports of its domain are stored runs once, and so does the other', async () => {
  const { db, close } = await openStore(await aDatabase());
  const { id, name } = await aDomain(db, await aBareAccount(db));
  const runs = { storing: 0, waiting: 0 };
  let waiting: Promise<void> | undefined;
  await db.write(async (tx) => {
    runs.storing += 1;
    await lockReportedDomains(tx, [name]);
    waiting ??= db.write(async (other) => {
      runs.waiting += 1;
      await lockDomain(other, id);
    });
    await expect.poll(() => countWaiting(db)).toBe(1);
    await tx.updateTable('domain').set({ reports_total: 0 }).where('id', '=', id).execute();
  });
  await waiting;
  expect(runs).toEqual({ storing: 1, waiting: 1 });
  await close();
});

/** Statements that wait for a lock, on Citus one of another server. */
async function countWaiting(db: Store['db']): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
    where datname = current_database() and state = 'active' and wait_event_type in ('Lock', 'Extension')`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}
