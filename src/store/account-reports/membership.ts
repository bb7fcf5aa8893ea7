import { sql } from 'kysely';
import type { Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { prepareRows } from '../engine/many-rows.ts';
import { runAllPrepared } from '../engine/prepared.ts';
import { newVersion } from '../lists/heads.ts';
import { insertPoint, newGeneration, newNonce } from '../lists/points.ts';
import { accountReportList, deleteEmptyDays } from '../lists/timeline.ts';
import type { Tables } from '../tables.ts';

/*
 * A domain joins the list of its account's reports, or leaves it, in one transaction, with all its reports. What is as
 * long as they are many is done before (joining.ts) or after (`forgetRows`).
 */

/** An account and a domain whose row has the new state. */
interface Change {
  readonly accountId: string;
  readonly domainId: string;
}

/** Its reports have the account's number. Who follows the list gets them as what came last. */
export async function joinAccountList(tx: Tx, { accountId, domainId }: Change): Promise<void> {
  const [domain] = await listDomains(tx, { accountId, domainId });
  if (domain === undefined) return;
  const listId = accountReportList(accountId);
  await sql`insert into list_day (list_id, day, items)
    select ${sql.val(listId)}, day, reports from domain_day where domain_id = ${domainId}
    on conflict (list_id, day) do update set items = list_day.items + excluded.items`.execute(tx);
  await append(tx, accountId, [domain]);
  await tx
    .updateTable('account')
    .set((eb) => ({ reports_total: eb('reports_total', '+', domain.total) }))
    .where('id', '=', accountId)
    .execute();
}

/** Who follows the list begins again. The other domains get new positions behind all others, and so few rows. */
export async function leaveAccountList(tx: Tx, { accountId, domainId }: Change): Promise<void> {
  const listId = accountReportList(accountId);
  // Also for reports that come while it is paused.
  await sql`update account set list_has_others = list_has_others | 1 where id = ${accountId}`.execute(
    tx,
  );
  const { reports_total, unlisted_until } = await tx
    .selectFrom('domain')
    .select(['reports_total', 'unlisted_until'])
    .where('id', '=', domainId)
    .executeTakeFirstOrThrow();
  if (reports_total === 0 || unlisted_until !== null) return;
  await sql`update list_day set items = items - (select reports from domain_day
      where domain_id = ${domainId} and day = list_day.day)
    where list_id = ${listId} and day in (select day from domain_day where domain_id = ${domainId})`.execute(
    tx,
  );
  await deleteEmptyDays(tx, listId);
  await tx
    .updateTable('account')
    .set((eb) => ({ reports_total: eb('reports_total', '-', reports_total) }))
    .where('id', '=', accountId)
    .execute();
  await renumber(tx, accountId);
}

/** The whole list again, from what its domains have: a repair, in one transaction. */
export async function remakeAccountList(tx: Tx, accountId: string): Promise<void> {
  const listId = accountReportList(accountId);
  const account = tx.selectFrom('account').select('seq').where('id', '=', accountId);
  const { seq } = await account.$call(dialectOf(tx).locked).executeTakeFirstOrThrow();
  const active = sql`(select id from domain where account_id = ${accountId} and status = 'active')`;
  await sql`update report set account_seq = ${seq} where domain_id in ${active}
    and account_seq is distinct from ${seq}`.execute(tx);
  await sql`update domain set unlisted_until = null where id in ${active}
    and unlisted_until is not null`.execute(tx);
  await tx.deleteFrom('list_day').where('list_id', '=', listId).execute();
  await sql`insert into list_day (list_id, day, items) select ${sql.val(listId)}, day, sum(reports)
    from domain_day where domain_id in ${active} group by day`.execute(tx);
  await sql`update account set list_has_others = 1,
    reports_total = coalesce((select sum(reports_total) from domain
      where account_id = ${accountId} and status = 'active'), 0) where id = ${accountId}`.execute(
    tx,
  );
  await renumber(tx, accountId);
}

/** The list begins anew behind its last position, in another generation. */
async function renumber(tx: Tx, accountId: string): Promise<void> {
  const nonce = newNonce();
  const { position } = await tx
    .updateTable('account')
    .set((eb) => ({
      // No point is there yet.
      reports_begin: eb('reports_position', '+', 1),
      reports_position: eb('reports_position', '+', 1),
      reports_nonce: nonce,
      reports_generation: newGeneration(),
      reports_version: newVersion(),
    }))
    .where('id', '=', accountId)
    .returning('reports_begin as position')
    .executeTakeFirstOrThrow();
  await insertPoint(tx, accountReportList(accountId), { position, nonce });
  await append(tx, accountId, await listDomains(tx, { accountId }));
}

/** The position before the first of a domain's list. */
export const BEGIN = sql<number>`(select min(position) from list_point where list_id = domain.id)`;

interface ListedDomain {
  readonly seq: number;
  readonly total: number;
  /** The last position of its list, and the one before the first. */
  readonly position: number;
  readonly begin: number;
}

/** The account's active domains that have reports with its number. */
async function listDomains(
  tx: Tx,
  { accountId, domainId }: Pick<Change, 'accountId'> & Partial<Change>,
): Promise<ListedDomain[]> {
  const rows = await tx
    .selectFrom('domain')
    .select(['seq', 'reports_total as total', 'reports_position as position'])
    .select(BEGIN.as('begin'))
    .where('account_id', '=', accountId)
    .where('status', '=', 'active')
    .where('unlisted_until', 'is', null)
    .where('reports_total', '>', 0)
    .$if(domainId !== undefined, (query) => query.where('id', '=', domainId as string))
    .orderBy('id')
    .execute();
  return rows.map((row) => ({ ...row, begin: row.begin ?? 0 }));
}

/** Of one row: a page of a followed list sorts the reports of the row that it begins in. */
const MAX_LENGTH = 1_000;

/** The domains' reports get the next positions, in their orders; a gap of a domain becomes one of the account. */
async function append(tx: Tx, accountId: string, domains: readonly ListedDomain[]): Promise<void> {
  const { account_seq, position: base } = await tx
    .selectFrom('account')
    .select(['seq as account_seq', 'reports_position as position'])
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow();
  const nonce = newNonce();
  const rows: Tables['account_arrival'][] = [];
  let position = base;
  for (const { seq: domain_seq, begin, position: end } of domains)
    for (let from = begin; from < end; from += MAX_LENGTH) {
      const length = Math.min(MAX_LENGTH, end - from);
      position += length;
      rows.push({
        account_seq,
        domain_seq,
        domain_position: from + length,
        position,
        length,
        nonce,
      });
    }
  if (rows.length === 0) return;
  await runAllPrepared(tx, arrivalInserts(rows));
  const listId = accountReportList(accountId);
  await sql`insert into list_gap (list_id, position, nonce)
    select ${sql.val(listId)}, a.position - a.domain_position + g.position, g.nonce
    from account_arrival as a join domain on domain.seq = a.domain_seq
      join list_gap as g on g.list_id = domain.id
      and g.position > a.domain_position - a.length and g.position <= a.domain_position
    where a.account_seq = ${account_seq} and a.position > ${base}`.execute(tx);
  // The last of the positions may be a gap.
  await insertPoint(tx, listId, { position, nonce });
  await tx
    .updateTable('account')
    .set({ reports_position: position, reports_nonce: nonce, reports_version: newVersion() })
    .where('id', '=', accountId)
    .execute();
}

const arrivalInserts = prepareRows<Tables['account_arrival'], never>(
  ['account_seq', 'domain_seq', 'position', 'domain_position', 'length', 'nonce'],
  (db, rows) => db.insertInto('account_arrival').values(rows),
);
