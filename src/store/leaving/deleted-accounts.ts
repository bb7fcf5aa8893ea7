import { sql } from 'kysely';
import { createMailToken } from '../../domain/access/mail-token.ts';
import { Failure } from '../../domain/failure.ts';
import { findAccount, lockAccount } from '../accounts/accounts.ts';
import { listApiKeys } from '../accounts/api-keys.ts';
import { listAllDomains } from '../domains/domains.ts';
import { removeDomain } from '../domains/removed-domains.ts';
import type { Db, Tx } from '../engine/database.ts';
import type { Actor } from '../events/audit.ts';
import { deleteEvents } from '../events/events.ts';
import { deleteParts } from '../inbox/parts.ts';
import { accountReportList, alertList } from '../lists/timeline.ts';
import { listWebhooks } from '../notify/webhooks.ts';
import { listPeople, lockPersonRow } from '../people/people.ts';
import { deletePersonRows } from '../people/person-changes.ts';
import { readNow } from '../work/clock.ts';

/*
 * Everything of an account goes, in bounded transactions. The first lets nobody in any more; the account's own row goes
 * with the last one, so that a deletion that was killed is done again from its beginning and comes to the end.
 */

interface Deletion {
  readonly by: Actor;
  /** Reports stay, unclaimed. */
  readonly keepsReports: boolean;
}

/** Throws `not_found`. */
export async function deleteAccount(db: Db, accountId: string, { by, keepsReports }: Deletion) {
  const command = `plumbline account delete ${accountId} --yes${keepsReports ? ' --keep-reports' : ''}`;
  await db.write((tx) => closeAccount(tx, accountId, command));
  do {
    await deleteMails(db, accountId);
    for (const { id } of await listAllDomains(db, accountId))
      await removeOwn(db, { accountId, id, by, keepsReports });
    await deleteOwnEvents(db, accountId);
    await deleteSmallRows(db, accountId);
  } while (!(await db.write((tx) => deleteRest(tx, accountId))));
}

/** A domain that the account has no longer stays: another one may have it by now. */
async function removeOwn(
  db: Db,
  {
    accountId,
    id,
    by,
    keepsReports,
  }: Deletion & { readonly accountId: string; readonly id: string },
): Promise<void> {
  try {
    await removeDomain(db, id, { by, accountId, deletesReports: !keepsReports });
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'not_found')) throw error;
  }
}

/** Nobody asks, signs in or is told any more, and no mail comes to its address. All of this is bounded. */
async function closeAccount(tx: Tx, accountId: string, deletion_command: string): Promise<void> {
  await lockAccount(tx, accountId);
  await tx.deleteFrom('api_key').where('account_id', '=', accountId).execute();
  for (const { id } of await listPeople(tx, accountId)) {
    await lockPersonRow(tx, id);
    await deletePersonRows(tx, id);
  }
  const receivers = tx.selectFrom('receiver').select('id').where('account_id', '=', accountId);
  await tx.deleteFrom('webhook').where('id', 'in', receivers).execute();
  await tx.deleteFrom('receiver').where('account_id', '=', accountId).execute();
  const closed = { mail_token: createMailToken(), deletion_command };
  await tx.updateTable('account').set(closed).where('id', '=', accountId).execute();
}

/** Mails that nobody has read go too: what came to the account's own address is the account's. */
async function deleteMails(db: Db, accountId: string): Promise<void> {
  for await (const mails of listOwn(db, 'inbox_mail', accountId)) {
    const seqs = mails.map(({ seq }) => seq);
    const done = { state: 'done', due_at: null, claimed_by: null } as const;
    await db.write(async (tx) =>
      tx
        .updateTable('inbox_mail')
        .set({ ...done, done_at: await readNow(tx) })
        .where('seq', 'in', seqs)
        .execute(),
    );
    for (const { id } of mails) await deleteParts(db, id);
    await db.write((tx) => tx.deleteFrom('inbox_mail').where('seq', 'in', seqs).execute());
  }
}

async function deleteOwnEvents(db: Db, accountId: string): Promise<void> {
  for await (const events of listOwn(db, 'event', accountId)) {
    const seqs = events.map(({ seq }) => seq);
    await db.write((tx) => deleteEvents(tx, seqs));
  }
}

const ROWS_AT_ONCE = 500;

/** The tables have no index by account: all rows are looked at, some at a time. */
async function* listOwn(db: Db, table: 'inbox_mail' | 'event', accountId: string) {
  const all = db.selectFrom(table).select(['seq', 'id', 'account_id']);
  const first = all.orderBy('seq').limit(ROWS_AT_ONCE);
  let rows = await first.execute();
  for (; rows.length > 0; rows = await first.where('seq', '>', rows.at(-1)?.seq ?? 0).execute()) {
    const own = rows.filter(({ account_id }) => account_id === accountId);
    if (own.length > 0) yield own;
  }
}

/** These tables have an index by account or list. A domain's list of reports goes with the domain. */
async function deleteSmallRows(db: Db, accountId: string): Promise<void> {
  const [alerts, reports] = [alertList(accountId), accountReportList(accountId)];
  const seq = sql`(select seq from account where id = ${accountId})`;
  for (const [table, column, of, key] of [
    ['audit', 'account_id', accountId, 'seq'],
    ['reporter', 'account_id', accountId, 'name'],
    ['change', 'account_seq', seq, 'number'],
    ['list_day', 'list_id', alerts, 'day'],
    ['list_day', 'list_id', reports, 'day'],
  ] as const) {
    const own = sql`from ${sql.table(table)} where ${sql.ref(column)} = ${of}`;
    const some = sql`(select ${sql.ref(key)} ${own} limit ${ROWS_AT_ONCE})`;
    const deletion = sql`delete ${own} and ${sql.ref(key)} in ${some}`;
    while ((await db.write((tx) => deletion.execute(tx))).numAffectedRows);
  }
}

/** Returns false when something has come meanwhile, such as a domain that a mail of before named. */
async function deleteRest(tx: Tx, accountId: string): Promise<boolean> {
  await lockAccount(tx, accountId);
  const domain = tx.selectFrom('domain').select('id').where('account_id', '=', accountId);
  if ((await domain.executeTakeFirst()) !== undefined) return false;
  for (const table of ['domain_proposal', 'audit', 'reporter'] as const)
    await tx.deleteFrom(table).where('account_id', '=', accountId).execute();
  const account = tx.selectFrom('account').select('seq').where('id', '=', accountId);
  const { seq } = await account.executeTakeFirstOrThrow();
  await tx.deleteFrom('change').where('account_seq', '=', seq).execute();
  await tx.deleteFrom('account').where('id', '=', accountId).execute();
  return true;
}

/** What goes with an account, counted. Throws `not_found`. */
export async function countBelongings(db: Db, accountId: string) {
  const { name } = await findAccount(db, accountId);
  const domains = await listAllDomains(db, accountId);
  const { length: keys } = await listApiKeys(db, accountId);
  const { length: people } = await listPeople(db, accountId);
  const { length: webhooks } = await listWebhooks(db, accountId);
  const sum = (of: 'reports_total' | 'tls_total') =>
    domains.reduce((total, domain) => total + domain[of], 0);
  const [reports, tls_reports] = [sum('reports_total'), sum('tls_total')];
  return { account: name, domains: domains.length, reports, tls_reports, keys, people, webhooks };
}
