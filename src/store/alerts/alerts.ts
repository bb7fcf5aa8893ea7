import { randomUUID } from 'node:crypto';
import type { Expression, InferResult } from 'kysely';
import { type Instant, toDay } from '../../domain/instant.ts';
import { insertAudit, plumbline } from '../accounts/audit.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { newVersion } from '../lists/heads.ts';
import { insertGap, insertPoint, newGapNonce, newNonce } from '../lists/points.ts';
import { alertList, countItems } from '../lists/timeline.ts';

export interface NewAlert {
  readonly accountId: string;
  readonly domainId: string;
  readonly type: string;
  /** Distinguishes alerts of one type and domain. Without one, the alert's id is its subject. */
  readonly subject?: string;
  readonly firedAt: Instant;
  readonly context: Readonly<Record<string, unknown>>;
}

export async function insertAlert(db: Db, alert: NewAlert): Promise<string> {
  const id = await db.write((tx) => fireAlert(tx, alert));
  if (id === undefined) throw new Error(`${alert.type} is open already for ${alert.subject}.`);
  return id;
}

/** undefined when an alert with its domain, type and subject is open already: another process has fired it. */
export async function fireAlert(tx: Tx, alert: NewAlert): Promise<string | undefined> {
  const { accountId, domainId, type, firedAt } = alert;
  const id = randomUUID();
  const inserted = await tx
    .insertInto('alert')
    .values({
      id,
      account_id: accountId,
      domain_id: domainId,
      type,
      subject: alert.subject ?? id,
      fired_at: firedAt,
      resolved_at: null,
      context: JSON.stringify(alert.context),
    })
    .onConflict((oc) =>
      oc.columns(['domain_id', 'type', 'subject']).where('resolved_at', 'is', null).doNothing(),
    )
    .returning('id')
    .executeTakeFirst();
  if (inserted === undefined) return undefined;
  const day = new Map([[toDay(firedAt), 1]]);
  await countItems(tx, alertList(accountId), day);
  await countItems(tx, alertList(domainId), day);
  await advanceLists(tx, { id, accountId, domainId, type }, { added: 1, at: firedAt });
  return id;
}

/**
 * Resolves an open alert, or updates its context; returns whether it was open. Resolving moves it to the end of the
 * order of changes. A new context does not: it is no firing and no resolution.
 */
export async function settleAlert(
  tx: Tx,
  id: string,
  change: { readonly resolved_at?: Instant; readonly context?: string },
): Promise<boolean> {
  const alert = await tx
    .updateTable('alert')
    .set({ ...change, update_nonce: newGapNonce() })
    .where('id', '=', id)
    .where('resolved_at', 'is', null)
    .returning(['account_id', 'domain_id', 'type', 'account_position', 'domain_position'])
    .executeTakeFirst();
  if (alert === undefined) return false;
  const { account_id: accountId, domain_id: domainId, type } = alert;
  const { resolved_at: at } = change;
  if (at === undefined) {
    await touchList(tx, 'domain', domainId);
    await touchList(tx, 'account', accountId);
    return true;
  }
  await insertGap(tx, alertList(accountId), Number(alert.account_position));
  await insertGap(tx, alertList(domainId), Number(alert.domain_position));
  await advanceLists(tx, { id, accountId, domainId, type }, { added: 0, at });
  return true;
}

export type AlertOfAccount = InferResult<ReturnType<typeof selectAccountAlerts>>[number];

/** Operators see the newest. API clients can page through all of them. */
const MAX_SHOWN = 200;

export function listAccountAlerts(db: Db, accountId: string): Promise<AlertOfAccount[]> {
  return selectAccountAlerts(db, accountId).limit(MAX_SHOWN).execute();
}

export function selectAccountAlerts(db: Queries, accountId: string | Expression<string>) {
  return db
    .selectFrom('alert')
    .innerJoin('domain', 'domain.id', 'alert.domain_id')
    .select(['alert.id', 'domain_id', 'domain.name as domain', 'type', 'fired_at', 'resolved_at'])
    .select('context')
    .where('alert.account_id', '=', accountId)
    .orderBy('fired_at', 'desc')
    .orderBy('seq', 'desc');
}

/* The heads of an alert's two lists: its account's and its domain's. */

type Owner = 'account' | 'domain';

/** Gives a list a new version, after an alert has changed without a new position. */
async function touchList(tx: Tx, owner: Owner, id: string): Promise<void> {
  const touched = { alerts_version: newVersion() };
  await tx.updateTable(owner).set(touched).where('id', '=', id).execute();
}

type ChangedAlert = Pick<NewAlert, 'accountId' | 'domainId' | 'type'> & { readonly id: string };

/** Updates both heads for an alert that fired (`added` 1) or resolved (0), and gives the change its positions. */
async function advanceLists(
  tx: Tx,
  { id, accountId, domainId, type }: ChangedAlert,
  { added, at }: { readonly added: 0 | 1; readonly at: Instant },
): Promise<void> {
  // Every transaction locks domains before accounts (decision 64).
  const domain_position = await advance(tx, 'domain', { id: domainId, added });
  const account_position = await advance(tx, 'account', { id: accountId, added });
  const positions = { account_position, domain_position };
  await tx.updateTable('alert').set(positions).where('id', '=', id).execute();
  const domain = tx.selectFrom('domain').select('name').where('id', '=', domainId);
  const { name: subject } = await domain.executeTakeFirstOrThrow();
  const action = added === 1 ? 'alert_fired' : 'alert_resolved';
  await insertAudit(tx, plumbline(at), { accountId, action, subject, detail: type });
}

/** The update takes the lock of the owner's row, so positions become visible in their order on every engine. */
async function advance(
  tx: Tx,
  owner: Owner,
  { id, added }: { readonly id: string; readonly added: 0 | 1 },
): Promise<number> {
  const nonce = newNonce();
  const { alerts_position } = await tx
    .updateTable(owner)
    .set((eb) => ({
      alerts_total: eb('alerts_total', '+', added),
      alerts_version: newVersion(),
      alerts_position: eb('alerts_position', '+', 1),
      alerts_nonce: nonce,
    }))
    .where('id', '=', id)
    .returning('alerts_position')
    .executeTakeFirstOrThrow();
  const position = Number(alerts_position);
  await insertPoint(tx, alertList(id), { position, nonce });
  return position;
}
