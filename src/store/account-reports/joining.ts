import { sql } from 'kysely';
import type { Db, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { BEGIN, joinAccountList } from './membership.ts';

/*
 * The reports that a domain had before its account have no account's number, or another one's. They get that of the account in
 * bounded transactions, and are hidden (`list_has_others`) until all have it: then the domain joins the list at once. The
 * domain's row has how far it came, so it does not matter which process goes on.
 */

/** Positions that one transaction gives the account's number. */
const JOINED_AT_ONCE = 500;

/** Goes on with all domains that are joining. Returns whether it came to the end; doing it twice does no harm. */
export async function joinDomains(
  db: Db,
  mayGoOn: () => Promise<boolean>,
  atOnce?: number,
): Promise<boolean> {
  const joining = db.selectFrom('domain').select('id').where('unlisted_until', 'is not', null);
  for (const { id } of await joining.where('account_id', 'is not', null).execute())
    while (!(await db.write((tx) => joinSome(tx, id, atOnce))))
      if (!(await mayGoOn())) return false;
  return true;
}

/** Returns whether nothing is left to do: a domain with few reports joins in one transaction. */
export async function joinSome(
  tx: Tx,
  domainId: string,
  atOnce = JOINED_AT_ONCE,
): Promise<boolean> {
  const domain = await tx
    .selectFrom('domain')
    .select(['account_id', 'unlisted_until'])
    .select(BEGIN.as('begin'))
    .where('id', '=', domainId)
    .$call(dialectOf(tx).locked)
    .executeTakeFirst();
  if (domain?.account_id == null || domain.unlisted_until === null) return true;
  const { account_id: accountId } = domain;
  const until = Number(domain.unlisted_until);
  const accountSeq = tx.selectFrom('account').select('seq').where('id', '=', accountId);
  await tx
    .updateTable('report')
    .set({ account_seq: accountSeq })
    .where('domain_id', '=', domainId)
    .where('position', '>', until - atOnce)
    .where('position', '<=', until)
    .where('account_seq', 'is distinct from', accountSeq)
    .execute();
  const isDone = until - atOnce <= Number(domain.begin);
  await tx
    .updateTable('domain')
    .set({ unlisted_until: isDone ? null : until - atOnce })
    .where('id', '=', domainId)
    .execute();
  await noteJoining(tx, accountId);
  if (isDone) await joinAccountList(tx, { accountId, domainId });
  return isDone;
}

/** Pages look up the domain of each report while one is joining. */
async function noteJoining(tx: Tx, accountId: string): Promise<void> {
  const others = sql`list_has_others & 1 | case when exists (select 1 from domain
    where account_id = ${accountId} and unlisted_until is not null) then 2 else 0 end`;
  await sql`update account set list_has_others = ${others}
    where id = ${accountId} and list_has_others <> (${others})`.execute(tx);
}
