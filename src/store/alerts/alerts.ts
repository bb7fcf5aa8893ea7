import { randomUUID } from 'node:crypto';
import { type Expression, type InferResult, sql } from 'kysely';
import { type Day, type Instant, toDay } from '../../domain/instant.ts';
import { insertAudit, plumbline } from '../accounts/audit.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { newVersion } from '../lists/heads.ts';
import { insertGaps, insertPoint, newGapNonce, newGeneration, newNonce } from '../lists/points.ts';
import { alertList, countItems } from '../lists/timeline.ts';
import { hasReceivers } from '../notify/events.ts';
import { insertAlertEvent } from './alert-list.ts';

export interface NewAlert {
  readonly accountId: string;
  readonly domainId: string;
  readonly type: string;
  /** Distinguishes alerts of one type and domain. Without one, the alert's id is its subject. */
  readonly subject?: string;
  readonly firedAt: Instant;
  readonly context: Readonly<Record<string, unknown>>;
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
  await advanceLists(tx, { id, accountId, domainId, type }, { added: 1, at: firedAt });
  const day = new Map([[toDay(firedAt), 1]]);
  for (const owner of ownersOf(alert)) await countItems(tx, alertList(owner.id), day);
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
    .returning(['account_id as accountId', 'domain_id as domainId', 'type'])
    .returning(['account_position', 'domain_position'])
    .executeTakeFirst();
  if (alert === undefined) return false;
  const { resolved_at: at } = change;
  for (const owner of ownersOf(alert))
    if (at === undefined) await touchList(tx, owner, 0);
    else await insertGaps(tx, alertList(owner.id), [alert[`${owner.table}_position`]]);
  if (at !== undefined) await advanceLists(tx, { id, ...alert }, { added: 0, at });
  return true;
}

/** The oldest alerts of a domain leave its list and the account's. Returns how many there were. */
export async function deleteAlerts(
  tx: Tx,
  { accountId, domainId, limit }: { accountId: string; domainId: string; limit: number },
): Promise<number> {
  const alerts = await tx
    .selectFrom('alert')
    .select(['id', 'fired_at', 'account_position', 'domain_position'])
    .where('domain_id', '=', domainId)
    .orderBy('fired_at')
    .limit(limit)
    .execute();
  if (alerts.length === 0) return 0;
  const ids = alerts.map(({ id }) => id);
  await tx.deleteFrom('alert').where('domain_id', '=', domainId).where('id', 'in', ids).execute();
  const days = new Map<Day, number>();
  for (const { fired_at } of alerts)
    days.set(toDay(fired_at), (days.get(toDay(fired_at)) ?? 0) - 1);
  for (const owner of ownersOf({ accountId, domainId })) {
    const list = alertList(owner.id);
    await touchList(tx, owner, -alerts.length);
    await countItems(tx, list, days);
    // Clients may come back with a cursor before them.
    const positions = alerts.map((alert) => alert[`${owner.table}_position`]);
    await insertGaps(tx, list, positions);
  }
  return alerts.length;
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
    .orderBy('alert.seq', 'desc');
}

type AlertOwners = Pick<NewAlert, 'accountId' | 'domainId'>;
type Owner = ReturnType<typeof ownersOf>[number];

/** Those who have a list with the alert, in the order in which every transaction locks them (decision 64). */
function ownersOf({ accountId, domainId }: AlertOwners) {
  return [
    { table: 'domain', id: domainId },
    { table: 'account', id: accountId },
  ] as const;
}

/** Gives a list a new version, after alerts have changed or gone without a new position. */
async function touchList(tx: Tx, { table, id }: Owner, added: number): Promise<void> {
  await tx
    .updateTable(table)
    .set((eb) => ({ alerts_total: eb('alerts_total', '+', added), alerts_version: newVersion() }))
    .$if(added < 0, (update) => update.set({ alerts_generation: newGeneration() }))
    .where('id', '=', id)
    .execute();
}

type ChangedAlert = AlertOwners & { readonly id: string; readonly type: string };

/** Updates both heads for an alert that fired (`added` 1) or resolved (0), and gives the change its positions. */
async function advanceLists(
  tx: Tx,
  alert: ChangedAlert,
  { added, at }: { readonly added: 0 | 1; readonly at: Instant },
): Promise<void> {
  const { id, accountId, domainId, type } = alert;
  const [domain, account] = ownersOf(alert);
  const { position: domain_position } = await advance(tx, domain, added);
  const { position: account_position, isReceived } = await advance(tx, account, added);
  const positions = { account_position, domain_position };
  await tx.updateTable('alert').set(positions).where('id', '=', id).execute();
  const named = tx.selectFrom('domain').select('name').where('id', '=', domainId);
  const { name: subject } = await named.executeTakeFirstOrThrow();
  const action = added === 1 ? 'alert_fired' : 'alert_resolved';
  await insertAudit(tx, plumbline(at), { accountId, action, subject, detail: type });
  if (!isReceived) return;
  const event = added === 1 ? 'alert.fired' : 'alert.resolved';
  await insertAlertEvent(tx, { id, domainId, event, at });
}

/** The update takes the lock of the owner's row, so positions become visible in their order on every engine. */
async function advance(tx: Tx, { table, id }: Owner, added: 0 | 1) {
  const alerts_nonce = newNonce();
  const advanced = await tx
    .updateTable(table)
    .set((eb) => ({
      alerts_total: eb('alerts_total', '+', added),
      alerts_version: newVersion(),
      alerts_position: eb('alerts_position', '+', 1),
      alerts_nonce,
    }))
    .where('id', '=', id)
    .returning('alerts_position as position')
    .$if(table === 'account', (update) =>
      update.returning(hasReceivers(sql.ref('account.id'), 'alert.').as('isReceived')),
    )
    .executeTakeFirstOrThrow();
  await insertPoint(tx, alertList(id), { position: advanced.position, nonce: alerts_nonce });
  return advanced;
}
