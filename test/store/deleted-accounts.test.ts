import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { receiveInputs } from '../../scripts/receive.ts';
import { operator } from '../../src/store/accounts/audit.ts';
import { countBelongings, deleteAccount } from '../../src/store/accounts/deleted-accounts.ts';
import { removeDomain } from '../../src/store/accounts/removed-domains.ts';
import { updateRouteCheck } from '../../src/store/alerts/dns-records.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { insertWebhook } from '../../src/store/notify/webhooks.ts';
import { insertPerson } from '../../src/store/people/new-people.ts';
import { updateMark } from '../../src/store/sources/marks.ts';
import { sumMonths } from '../../src/store/sources/months.ts';
import type { Tables } from '../../src/store/tables.ts';
import { aDomain, anAccount, anAlert, aReport, NOW, receive } from '../support/builders.ts';
import { failingDb } from '../support/failing-db.ts';
import { deliverMail } from '../support/inbox.ts';
import { tellReceivers } from '../support/outbox.ts';
import { listMiscounts } from '../support/recount.ts';
import { aStore, IS_POSTGRES } from '../support/store.ts';
import { sealing } from '../support/webhooks.ts';

/** What no account has. */
const OF_NOBODY = new Set([
  // A rejected document and what an operator removed name neither an account nor a domain.
  ...['rejection', 'removed_payload', 'reporter'],
  ...['lease', 'door_state', 'mail_server'],
]);

const LIST_TABLES = IS_POSTGRES
  ? `select table_name as name from information_schema.tables where table_schema = 'public'`
  : `select name from sqlite_schema where type = 'table' and name not like 'sqlite%'`;

async function listTables(db: Db): Promise<(keyof Tables)[]> {
  const { rows } = await sql.raw<{ name: keyof Tables }>(LIST_TABLES).execute(db);
  return rows.map(({ name }) => name).filter((name) => !name.startsWith('kysely'));
}

/** All rows of all tables as sorted text. */
async function readAll(db: Db): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {};
  for (const table of await listTables(db)) {
    const rows = await db.selectFrom(table).selectAll().execute();
    all[table] = rows.map((row) => JSON.stringify(row)).sort();
  }
  return all;
}

let count = 0;

/** An account that has a row in every table. */
async function aFullAccount(db: Db): Promise<string> {
  const number = ++count;
  const { id: accountId } = await anAccount(db);
  const email = `ada-${number}@example.com`;
  const by = { ...operator(NOW), name: email };
  const { id: person_id } = await insertPerson(db, {
    ...{ accountId, email, now: NOW, role: 'owner', passwordHash: 'hash' },
  });
  await insertWebhook(
    db,
    {
      ...{ accountId, url: 'https://example.com/hook', format: 'standard', description: '' },
      events: ['alert.fired', 'report.received'],
    },
    { sealing, by },
  );
  const name = `d${number}.example`;
  const { id: domainId } = await aDomain(db, accountId, { name });
  await aDomain(db, accountId, { name: `paused-${number}.example`, status: 'paused' });
  const reports = Array.from({ length: 25 }, (_, i) => {
    const begin = `2026-03-${10 + (i % 5)}T00:00:00Z`;
    return aReport({ domain: name, reportId: `${i}`, begin });
  });
  await receive(db, reports.slice(1));
  const unproved = { member: [], content: reports[0] as (typeof reports)[0], authenticated: '' };
  const bytes = Buffer.from(`mail ${number}`);
  await receiveInputs(db, [{ name: 'mail', bytes, documents: [unproved] }], NOW);
  const conflict = { domain: name, reportId: '3', begin: '2026-03-13T00:00:00Z' };
  await receive(db, [aReport({ ...conflict, payload: 'another' })]);
  await anAlert(db, { accountId, domainId });
  await anAlert(db, { accountId, domainId }, { type: 'alert.volume_drop', resolvedAt: NOW });
  await tellReceivers(db);
  const address = '192.0.2.1';
  await updateMark(db, { domainId, address, mark: 'unknown' }, { ...by, accountId });
  await updateRouteCheck(db, domainId, { checkedAt: NOW, findings: [] });
  await sumMonths(db, { domainId, months: ['2026-03-01'] });
  await deliverMail(db, { accountId });
  await db.write(async (tx) => {
    const sha256 = Buffer.from(`token ${number}`);
    const session = { id: domainId, sha256, address, user_agent: '', single_sign_on: 0 } as const;
    const times = { created_at: NOW, last_seen_at: NOW, expires_at: NOW };
    await tx
      .insertInto('session')
      .values({ ...session, ...times, person_id })
      .execute();
    const link = { sha256, person_id, expires_at: NOW };
    await tx
      .insertInto('one_time_link')
      .values({ ...link, mailed: 0 })
      .execute();
    await tx.insertInto('pending_sign_in').values(link).execute();
    await tx.insertInto('second_factor').values({ person_id, sealed_secret: 'x' }).execute();
    await tx.insertInto('recovery_code').values({ person_id, sha256 }).execute();
    await tx.insertInto('mail_left_out').values({ person_id, domain_id: domainId }).execute();
    const named = { domain_id: domainId, address, name: null, expires_at: NOW };
    await tx.insertInto('source_name').values(named).execute();
    const proposal = { account_id: accountId, name: `other-${number}.example`, proposed_at: NOW };
    await tx
      .insertInto('domain_proposal')
      .values({ ...proposal, organizational_domain: proposal.name })
      .execute();
    const { document_seq } = await tx
      .selectFrom('report')
      .select('document_seq')
      .where('domain_id', '=', domainId)
      .executeTakeFirstOrThrow();
    await tx
      .insertInto('document_part')
      .values({ document_seq, part: 1, content: sha256 })
      .execute();
  });
  return accountId;
}

const removal = { by: operator(NOW), keepsReports: false };

describe('a deleted account', () => {
  test('leaves nothing in any table, and others have what they had', async () => {
    const { db } = await aStore();
    await aFullAccount(db);
    const before = await readAll(db);
    const accountId = await aFullAccount(db);
    const filled = await readAll(db);
    for (const table of await listTables(db))
      if (!OF_NOBODY.has(table))
        expect(filled[table]?.length, `rows of an account in ${table}`).toBeGreaterThan(
          before[table]?.length ?? 0,
        );
    const counts = { domains: 2, reports: 25, keys: 1, people: 1, webhooks: 1 };
    expect(await countBelongings(db, accountId)).toEqual({ account: 'Example', ...counts });

    await deleteAccount(db, accountId, removal);

    expect(await readAll(db)).toEqual(before);
    await expect(countBelongings(db, accountId)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is gone to the end when it is deleted again after a kill, wherever that was', async () => {
    const { db } = await aStore();
    const before = await readAll(db);
    const whole = failingDb(db, Number.POSITIVE_INFINITY);
    await deleteAccount(whole.db, await aFullAccount(db), removal);
    const KILLS = 12;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const accountId = await aFullAccount(db);
      const after = Math.floor((whole.count.steps * kill) / (KILLS + 1));
      const killed = deleteAccount(failingDb(db, after).db, accountId, removal);
      await expect(killed).rejects.toThrow('broken');
      await deleteAccount(db, accountId, removal);
      expect(await readAll(db), `killed after ${after} steps`).toEqual(before);
    }
  });

  test('lets nobody in from the first transaction on', async () => {
    const { db } = await aStore();
    const accountId = await aFullAccount(db);
    let writes = 0;
    const write: Db['write'] = (change) =>
      ++writes > 1 ? Promise.reject(new Error('Killed.')) : db.write(change);
    await expect(deleteAccount({ ...db, write }, accountId, removal)).rejects.toThrow('Killed.');
    for (const table of [
      'api_key',
      'session',
      'pending_sign_in',
      'one_time_link',
      'receiver',
    ] as const)
      expect(await db.selectFrom(table).selectAll().execute(), table).toEqual([]);
    expect(await countBelongings(db, accountId)).toMatchObject({ reports: 25, keys: 0 });
  });

  test('may leave its reports, unclaimed', async () => {
    const { db } = await aStore();
    const accountId = await aFullAccount(db);
    await deleteAccount(db, accountId, { ...removal, keepsReports: true });
    const domains = await db
      .selectFrom('domain')
      .select(['account_id', 'reports_total'])
      .orderBy('reports_total')
      .execute();
    expect(domains).toEqual([
      { account_id: null, reports_total: 0 },
      { account_id: null, reports_total: 25 },
    ]);
    expect(await db.selectFrom('report').select('id').execute()).toHaveLength(25);
    for (const table of ['account', 'alert', 'audit', 'event', 'inbox_mail'] as const)
      expect(await db.selectFrom(table).selectAll().execute(), table).toEqual([]);
  });
});

test('a domain that is removed with its reports leaves nothing of itself but in the audit', async () => {
  const { db } = await aStore();
  const accountId = await aFullAccount(db);
  const others = await aFullAccount(db);
  const [own] = await db
    .selectFrom('domain')
    .select('id')
    .where('account_id', '=', accountId)
    .where('reports_total', '=', 25)
    .execute();
  await removeDomain(db, own?.id ?? '', { by: operator(NOW), deletesReports: true });
  for (const table of [
    'report',
    'conflict',
    'domain_day',
    'domain_month',
    'domain_receipt',
  ] as const)
    expect(
      await db
        .selectFrom(table)
        .where('domain_id', '=', own?.id ?? '')
        .selectAll()
        .execute(),
      table,
    ).toEqual([]);
  expect(await countBelongings(db, accountId)).toMatchObject({ domains: 1, reports: 0, keys: 1 });
  expect(await countBelongings(db, others)).toMatchObject({ domains: 2, reports: 25 });
  const miscounts = await listMiscounts(db);
  // The part that the other account's document was given is in no count.
  expect(Object.keys(miscounts)).toEqual(['domain_receipt']);
  const actions = await db
    .selectFrom('audit')
    .select('action')
    .where('account_id', '=', accountId)
    .orderBy('seq', 'desc')
    .limit(2)
    .execute();
  expect(actions.map(({ action }) => action)).toEqual(['domain_removed', 'domain_paused']);
});
