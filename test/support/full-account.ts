import { sql } from 'kysely';
import { receiveInputs } from '../../scripts/receive.ts';
import { updateRouteCheck } from '../../src/store/alerts/dns-records.ts';
import { updateMark } from '../../src/store/days/marks.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { operator } from '../../src/store/events/audit.ts';
import { isOfDomain } from '../../src/store/lists/heads.ts';
import { insertWebhook } from '../../src/store/notify/webhooks.ts';
import { insertPerson } from '../../src/store/people/new-people.ts';
import type { Tables } from '../../src/store/tables.ts';
import { aDomain, anAccount, anAlert, aReport, NOW, receive } from './builders.ts';
import { deliverMail } from './inbox.ts';
import { tellReceivers } from './outbox.ts';
import { IS_POSTGRES } from './store.ts';
import { aReadTlsReport } from './tls-report.ts';
import { sealing } from './webhooks.ts';

/** What no account has. */
export const OF_NOBODY = new Set([
  // A rejected document and what an operator removed name neither an account nor a domain.
  ...['rejection', 'removed_payload', 'reporter'],
  ...['lease', 'door_state', 'mail_server'],
]);

const LIST_TABLES = IS_POSTGRES
  ? `select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'every_shard'`
  : `select name from sqlite_schema where type = 'table' and name not like 'sqlite%'`;

export async function listTables(db: Db): Promise<(keyof Tables)[]> {
  const { rows } = await sql.raw<{ name: keyof Tables }>(LIST_TABLES).execute(db);
  return rows.map(({ name }) => name).filter((name) => !name.startsWith('kysely'));
}

/** All rows of all tables as sorted text. */
export async function readAll(db: Db): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {};
  for (const table of await listTables(db)) {
    const rows = await db.selectFrom(table).selectAll().execute();
    all[table] = rows.map((row) => JSON.stringify(row)).sort();
  }
  return all;
}

let count = 0;

/** An account that has a row in every table. */
export async function aFullAccount(db: Db): Promise<string> {
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
  await receive(db, [aReadTlsReport({ domain: name, successes: 1 })]);
  await receive(db, [aReadTlsReport({ domain: name, successes: 2 })]);
  await anAlert(db, { accountId, domainId });
  await anAlert(db, { accountId, domainId }, { type: 'alert.volume_drop', resolvedAt: NOW });
  await tellReceivers(db);
  const address = '192.0.2.1';
  await updateMark(db, { domainId, subject: address, mark: 'unknown' }, { ...by, accountId });
  await updateRouteCheck(db, domainId, { checkedAt: NOW, findings: [] });
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
      .where(isOfDomain(domainId))
      .executeTakeFirstOrThrow();
    await tx
      .insertInto('document_part')
      .values({ document_seq, part: 1, content: sha256 })
      .execute();
  });
  return accountId;
}
