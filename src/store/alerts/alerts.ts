import { randomUUID } from 'node:crypto';
import type { Expression } from 'kysely';
import { type Instant, toDay } from '../../domain/instant.ts';
import type { Db, Queries, Tx } from '../connection/database.ts';
import { type BoundQuery, prepareQuery } from '../connection/prepared.ts';
import type { Reader } from '../connection/reader.ts';
import { type Head, touchAlertLists } from '../lists/heads.ts';
import type { Page, PageOf } from '../lists/page.ts';
import { alertList, countItems, pageSkip, pageUntil, withPageStart } from '../lists/timeline.ts';

/** An alert row as it is listed. */
export interface AlertRow {
  readonly id: string;
  readonly domain_id: string;
  readonly type: string;
  readonly fired_at: Instant;
  readonly resolved_at: Instant | null;
  /** JSON object. */
  readonly context: string;
}

/** The owner of the alerts: an account or one of its domains. */
export interface AlertScope {
  readonly accountId: string;
  readonly domainId: string | undefined;
}

const COLUMNS = ['id', 'domain_id', 'type', 'fired_at', 'resolved_at', 'context'] as const;

export interface NewAlert {
  readonly accountId: string;
  readonly domainId: string;
  readonly type: string;
  /**
   * Distinguishes it from other alerts of its type and domain. An alert without a subject gets its own id as
   * subject.
   */
  readonly subject?: string;
  readonly firedAt: Instant;
  readonly context: Readonly<Record<string, unknown>>;
}

/** Stores an alert that has fired, in the lists of its account and its domain. Returns its id. */
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
  await touchAlertLists(tx, { accountId, domainId, added: 1 });
  return id;
}

/** Changes an open alert: resolves it or updates its context. Returns whether it was open. */
export async function settleAlert(
  tx: Tx,
  id: string,
  change: { readonly resolved_at: Instant } | { readonly context: string },
): Promise<boolean> {
  const alert = await tx
    .updateTable('alert')
    .set(change)
    .where('id', '=', id)
    .where('resolved_at', 'is', null)
    .returning(['account_id', 'domain_id'])
    .executeTakeFirst();
  if (alert === undefined) return false;
  const { account_id: accountId, domain_id: domainId } = alert;
  await touchAlertLists(tx, { accountId, domainId, added: 0 });
  return true;
}

/** An alert as an operator sees it. */
export interface AlertOfAccount extends AlertRow {
  readonly domain: string;
}

/** The largest number of alerts shown to an operator. API clients can page through all of them. */
const MAX_SHOWN = 200;

/** The account's newest alerts, with the names of their domains. */
export function listAccountAlerts(db: Db, accountId: string): Promise<AlertOfAccount[]> {
  return selectAccountAlerts(db, accountId).limit(MAX_SHOWN).execute();
}

/** The account's alerts, the latest first, with the names of their domains. */
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

const accountHead = prepareQuery<{ accountId: string }, Head>((db, param) =>
  db
    .selectFrom('account')
    .select(['alerts_total as total', 'alerts_version as version'])
    .where('id', '=', param('accountId')),
);

const domainHead = prepareQuery<{ accountId: string; domainId: string }, Head>((db, param) =>
  db
    .selectFrom('domain')
    .select(['alerts_total as total', 'alerts_version as version'])
    .where('id', '=', param('domainId'))
    .where('account_id', '=', param('accountId')),
);

const accountPage = alertsPage('account_id');
const domainPage = alertsPage('domain_id');

/** undefined when the account has no such domain, whether or not another account has it. */
export async function findAlertsHead(reader: Reader, scope: AlertScope): Promise<Head | undefined> {
  return await reader.readFirst(headOf(scope));
}

/** A page of alerts, latest fired first, then latest created. */
export async function listAlerts(
  reader: Reader,
  scope: AlertScope,
  page: Page,
): Promise<PageOf<AlertRow>> {
  const owner = scope.domainId ?? scope.accountId;
  const pageOf = scope.domainId === undefined ? accountPage : domainPage;
  const [[head], rows] = await reader.readTogether(
    headOf(scope),
    pageOf({ list: alertList(owner), owner, ...page }),
  );
  return { ...(head as Head), rows };
}

function headOf({ accountId, domainId }: AlertScope): BoundQuery<Head> {
  return domainId === undefined ? accountHead({ accountId }) : domainHead({ accountId, domainId });
}

function alertsPage(owner: 'account_id' | 'domain_id') {
  return prepareQuery<{ list: string; owner: string } & Page, AlertRow>((db, param) =>
    withPageStart(db, param('list'), param('offset'))
      .selectFrom('alert')
      .select(COLUMNS)
      .where(owner, '=', param('owner'))
      .where('fired_at', '<=', pageUntil)
      .orderBy('fired_at', 'desc')
      .orderBy('seq', 'desc')
      .limit(param('limit'))
      .offset(pageSkip),
  );
}
