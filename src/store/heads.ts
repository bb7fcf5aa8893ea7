import { randomBytes } from 'node:crypto';
import type { Tx } from './database.ts';

/** What is known of a list without touching it: how long it is, and a name for its present state. */
export interface Head {
  readonly total: number;
  readonly version: string;
}

/**
 * A name for a list's state that no other state will ever have. Random, not a counter: after a database
 * was restored from a backup a counter would give out old names for new states, and a partner's
 * `If-None-Match` would hide them.
 */
export function newVersion(): string {
  return randomBytes(9).toString('base64url');
}

/** The account's list of active domains has changed, and is longer by `added` (negative: shorter). */
export async function touchDomainList(tx: Tx, accountId: string, added = 0): Promise<void> {
  await tx
    .updateTable('account')
    .set((eb) => ({
      domains_total: eb('domains_total', '+', added),
      domains_version: newVersion(),
    }))
    .where('id', '=', accountId)
    .execute();
}

/** The alerts of a domain have changed, and with them its account's; both are longer by `added`. */
export async function touchAlertLists(
  tx: Tx,
  { accountId, domainId, added }: { accountId: string; domainId: string; added: number },
): Promise<void> {
  await tx
    .updateTable('account')
    .set((eb) => ({ alerts_total: eb('alerts_total', '+', added), alerts_version: newVersion() }))
    .where('id', '=', accountId)
    .execute();
  await tx
    .updateTable('domain')
    .set((eb) => ({ alerts_total: eb('alerts_total', '+', added), alerts_version: newVersion() }))
    .where('id', '=', domainId)
    .execute();
}
