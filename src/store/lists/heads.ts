import { randomBytes } from 'node:crypto';
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Tx } from '../engine/database.ts';
import { dialectOf, orDivided } from '../engine/dialect.ts';

/** The state of a list that can be read without reading the list: its length and its version. */
export interface Head {
  readonly total: number;
  readonly version: string;
}

/** The head of a list that clients can follow. */
export interface FollowableHead extends Head {
  /** No item has a greater one. */
  readonly key: number;
  /** The newest change of the account (changes.ts). */
  readonly number: number;
  readonly nonce: string;
  /** The number of the change with which an item was last removed. */
  readonly removed: number;
}

export type DomainOfAccount = { readonly domainId: string; readonly accountId: string };

/**
 * A version that no other state of the list will ever have. It is random: after a restore from a backup, a counter
 * would repeat old versions for new states, and a partner's `If-None-Match` would get 304 for a changed list.
 */
export function newVersion(): string {
  return randomBytes(9).toString('base64url');
}

/** Whether the list of an owner, by its id, has a version: a condition for queries that read its items. */
export function isVersion(
  of: `${'account' | 'domain'}.${'all_domains' | 'domains' | 'reports' | 'tls' | 'alerts'}_version`,
  [id, version]: readonly [Expression<string>, Expression<string>],
): RawBuilder<SqlBool> {
  const [owner = ''] = of.split('.');
  return sql<SqlBool>`exists (select 1 from ${sql.table(owner)}
    where ${sql.ref(`${owner}.id`)} = ${id} and ${sql.ref(of)} = ${version})`;
}

/**
 * Updates the heads of the account's lists of domains. That of active ones is longer by `added` (negative: shorter), or would be,
 * if the domain were not paused.
 */
export async function touchDomainList(
  tx: Tx,
  accountId: string,
  { added = 0, isPaused = false } = {},
): Promise<void> {
  await tx
    .updateTable('account')
    .set({ all_domains_version: newVersion() })
    .$if(added !== 0, (update) => update.set({ names_version: newVersion() }))
    .$if(!isPaused, (update) =>
      update.set((eb) => ({
        domains_total: eb('domains_total', '+', added),
        domains_version: newVersion(),
      })),
    )
    .where('id', '=', accountId)
    .execute();
}

/**
 * After stored reports became believed, or another thing is known that a domain's days are judged by: marks, names, its
 * record in DNS, its owner's word. The domain is locked.
 */
export async function touchDays(tx: Tx, domainId: string): Promise<void> {
  const touched = { days_version: newVersion() };
  const domain = tx.updateTable('domain').set(touched).where('id', '=', domainId);
  const owned = await domain.returning('account_id').executeTakeFirst();
  if (!owned?.account_id) return;
  await tx.updateTable('account').set(touched).where('id', '=', owned.account_id).execute();
}

/** After TLS reports of a domain became believed. The domain is locked. */
export async function touchTls(tx: Tx, domainId: string): Promise<void> {
  const touched = { tls_version: newVersion() };
  await tx.updateTable('domain').set(touched).where('id', '=', domainId).execute();
}

/**
 * Whether a report or a conflict is of a domain: those have the domain's number, and what else is of a domain its id (decision 130).
 * Citus asks one server when the number is known before the statement is planned, as the function's is (decision 134).
 */
export function isOfDomain(id: Expression<string> | string): RawBuilder<SqlBool> {
  return orDivided(
    sql<SqlBool>`domain_seq = (select seq from domain where id = ${id})`,
    sql<SqlBool>`domain_seq = domain_seq(${id})`,
  );
}

/** The id of a report's domain, in a query of reports. */
export const DOMAIN_ID = sql<string>`(select domain.id from domain where domain.seq = report.domain_seq)`;

/** Whoever changes what belongs to a domain holds its row (decision 64). */
export async function lockDomain(tx: Tx, id: string): Promise<void> {
  const domain = tx.selectFrom('domain').select('id').where('id', '=', id);
  await domain.$call(dialectOf(tx).locked).execute();
}
