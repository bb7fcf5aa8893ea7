import { randomUUID } from 'node:crypto';
import type { Expression, InferResult } from 'kysely';
import { isUnconfirmed, toHeadline } from '../../domain/alerts/alert-texts.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { insertAudit, plumbline } from '../events/audit.ts';
import { takeNumbers } from '../lists/changes.ts';
import { newVersion } from '../lists/heads.ts';
import { alertList, countItems } from '../lists/timeline.ts';
import { readNow } from '../work/clock.ts';
import { insertAlertEvent } from './alert-list.ts';

export interface NewAlert {
  readonly accountId: string;
  readonly domainId: string;
  readonly type: string;
  /** Distinguishes alerts of one type and domain. Without one, the alert's id is its subject. */
  readonly subject?: string;
  readonly firedAt: Instant;
  readonly context: Readonly<Record<string, unknown>>;
  /** Whether it resolves at once: no person is told of what old reports say. */
  readonly isOver?: boolean;
}

/** undefined when an alert with its domain, type and subject is open already: another process has fired it. */
export async function fireAlert(tx: Tx, alert: NewAlert): Promise<string | undefined> {
  const { accountId, domainId, type, firedAt } = alert;
  const id = randomUUID();
  const context = JSON.stringify(alert.context);
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
      context,
      // Its numbers come when the account is locked.
      ...NO_NUMBERS,
    })
    .onConflict((oc) =>
      oc.columns(['domain_id', 'type', 'subject']).where('resolved_at', 'is', null).doNothing(),
    )
    .returning('id')
    .executeTakeFirst();
  if (inserted === undefined) return undefined;
  await noteChange(tx, { id, accountId, domainId, type }, { event: 'alert.fired', at: firedAt });
  const item = { items: [{ at: firedAt }], by: 1 } as const;
  for (const owner of ownersOf(alert)) await countItems(tx, alertList(owner.id), item);
  if (!alert.isOver) await tellPeople(tx, { id, domainId, type, context }, firedAt);
  return id;
}

const NO_NUMBERS = { number: 0, last_change: 0 };

/**
 * Tells people of an open alert of which they were not told, unless only reports say so that are not believed: once established
 * reporters say the same, people are told as of a firing.
 */
async function tellPeople(
  tx: Tx,
  alert: Pick<NewAlert, 'domainId' | 'type'> & { readonly id: string; readonly context: string },
  at: Instant,
): Promise<void> {
  const { id, domainId, type } = alert;
  const context = JSON.parse(alert.context);
  if (isUnconfirmed(context)) return;
  const told = tx.updateTable('alert').set({ told_as: toHeadline(type, context) });
  await told.where('id', '=', id).execute();
  await insertAlertEvent(tx, { id, domainId, event: 'mail.alert_fired', at });
}

/**
 * Resolves an open alert, or updates its context; returns whether it was open. Resolving moves it to the end of the list
 * that clients follow. A new context does not: it is no firing and no resolution.
 */
export async function settleAlert(
  tx: Tx,
  id: string,
  change: { readonly resolved_at?: Instant; readonly context?: string },
  now?: Instant,
): Promise<boolean> {
  const alert = await tx
    .updateTable('alert')
    .set(change)
    .where('id', '=', id)
    .where('resolved_at', 'is', null)
    .returning(['id', 'account_id as accountId', 'domain_id as domainId', 'type', 'context'])
    .returning('told_as as toldAs')
    .executeTakeFirst();
  if (alert === undefined) return false;
  const { resolved_at: resolvedAt } = change;
  const at = resolvedAt ?? now ?? (await readNow(tx));
  await noteChange(tx, alert, { at, ...(resolvedAt && { event: 'alert.resolved' }) });
  if (resolvedAt === undefined && alert.toldAs === null) await tellPeople(tx, alert, at);
  if (resolvedAt !== undefined && alert.toldAs !== null)
    await insertAlertEvent(tx, { ...alert, event: 'mail.alert_resolved', at });
  return true;
}

/** The oldest alerts of a domain leave its list and the account's. Returns how many there were. */
export async function deleteAlerts(
  tx: Tx,
  { accountId, domainId, limit }: { accountId: string; domainId: string; limit: number },
): Promise<number> {
  const alerts = await tx
    .selectFrom('alert')
    .select(['id', 'fired_at'])
    .where('domain_id', '=', domainId)
    .orderBy('fired_at')
    .limit(limit)
    .execute();
  if (alerts.length === 0) return 0;
  const ids = alerts.map(({ id }) => id);
  await tx.deleteFrom('alert').where('domain_id', '=', domainId).where('id', 'in', ids).execute();
  const items = { items: alerts.map(({ fired_at: at }) => ({ at })), by: -1 } as const;
  for (const owner of ownersOf({ accountId, domainId })) {
    await touchList(tx, owner, -alerts.length);
    await countItems(tx, alertList(owner.id), items);
  }
  return alerts.length;
}

export type AlertOfAccount = InferResult<ReturnType<typeof selectAccountAlerts>>[number];

/** Operators see the newest. API clients can page through all of them. */
const MAX_SHOWN = 200;

export function listAccountAlerts(db: Db, accountId: string): Promise<AlertOfAccount[]> {
  return selectAccountAlerts(db, accountId).limit(MAX_SHOWN).execute();
}

/** undefined when the account has none with the id. */
export function findAccountAlert(db: Queries, accountId: string, id: string) {
  return selectAccountAlerts(db, accountId).where('alert.id', '=', id).executeTakeFirst();
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

/** The owners of lists with the alert, in the order in which every transaction locks them (decision 64). */
function ownersOf({ accountId, domainId }: AlertOwners) {
  return [
    { table: 'domain', id: domainId },
    { table: 'account', id: accountId },
  ] as const;
}

type ListOwner = ReturnType<typeof ownersOf>[number];

async function touchList(tx: Tx, { table, id }: ListOwner, added: number): Promise<void> {
  await tx
    .updateTable(table)
    .set((eb) => ({ alerts_total: eb('alerts_total', '+', added), alerts_version: newVersion() }))
    .where('id', '=', id)
    .execute();
}

/**
 * Gives both lists a new version, and the alert the number of the change; tells people and programs of an event. A change
 * without event is about new figures of an open alert.
 */
async function noteChange(
  tx: Tx,
  alert: AlertOwners & { readonly id: string; readonly type: string },
  { event, at }: { readonly event?: 'alert.fired' | 'alert.resolved'; readonly at: Instant },
): Promise<void> {
  const { id, accountId, domainId, type } = alert;
  for (const owner of ownersOf(alert)) await touchList(tx, owner, event === 'alert.fired' ? 1 : 0);
  const { number } = await takeNumbers(tx, { accountId, at });
  const numbers = { last_change: number, ...(event !== undefined && { number }) };
  await tx.updateTable('alert').set(numbers).where('id', '=', id).execute();
  if (event === undefined) return;
  const named = tx.selectFrom('domain').select('name').where('id', '=', domainId);
  const { name: subject } = await named.executeTakeFirstOrThrow();
  const action = event === 'alert.fired' ? 'alert_fired' : 'alert_resolved';
  await insertAudit(tx, plumbline(at), { accountId, action, subject, detail: type });
  await insertAlertEvent(tx, { id, domainId, event, at });
}
