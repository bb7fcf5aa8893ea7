import { randomUUID } from 'node:crypto';
import { expressionBuilder, type Kysely, sql } from 'kysely';
import type { AlertType } from '../../domain/alerts/registry.ts';
import type { EventType } from '../../domain/events.ts';
import { type Instant, later } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { dialectOf, type JsonRow } from '../engine/dialect.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { hasReceivers } from '../events/events.ts';
import type { Filters, Scope, Wanted } from '../lists/declaration.ts';
import { declareList } from '../lists/declared.ts';
import type { FollowedList } from '../lists/followed.ts';
import type { DomainOfAccount } from '../lists/heads.ts';
import { alertList, listDaysOf } from '../lists/timeline.ts';
import type { Tables } from '../tables.ts';

export type ListedAlert = JsonRow<ReturnType<typeof fieldsOfAlert>>;

export type AlertState = 'open' | 'resolved';

export const ALERT_FILTERS = {
  type: (type: string) => [[['type', '=', type]]],
  state: (state: AlertState) => [[['resolved_at', state === 'open' ? 'is null' : 'is not null']]],
  /** When they fired; the second is excluded. */
  from: (from: Instant) => [[['fired_at', '>=', from]]],
  until: (until: Instant) => [[['fired_at', '<=', later(until, -1_000)]]],
} as const satisfies Filters;

export interface AlertScope extends Wanted<typeof ALERT_FILTERS> {
  readonly accountId: string;
  readonly domainId: string | undefined;
}

/**
 * Alerts by `fired_at`, then by creation, latest first; who follows the list gets them in the order in which they fired or
 * resolved last. The list does not exist when the account has no such domain.
 */
export const alertsOf = ({
  accountId,
  domainId,
  ...filter
}: AlertScope): FollowedList<ListedAlert> =>
  open(domainId === undefined ? 'account' : 'domain', { accountId, domainId }, filter);

const open = declareList({
  table: 'alert',
  order: ['fired_at', 'seq'],
  key: 'number',
  filters: ALERT_FILTERS,
  scopes: {
    account: toScope('account', ({ accountId }) => accountHead({ accountId })),
    domain: toScope('domain', (owner) => domainHead(owner as DomainOfAccount)),
  },
});

function toScope(
  of: 'account' | 'domain',
  head: Scope<typeof ALERT_FILTERS>['head'],
): Scope<typeof ALERT_FILTERS> {
  return {
    toId: ({ accountId, domainId = accountId }) => alertList(domainId),
    isOwn: (owner) => sql`${sql.ref(`alert.${of}_id`)} = ${owner}`,
    fields: fieldsOfAlert,
    version: `${of}.alerts_version`,
    head,
    // Days have all alerts.
    days: ({ accountId, domainId = accountId }, wanted) =>
      Object.values(wanted).some((value) => value !== undefined)
        ? undefined
        : listDaysOf(alertList(domainId)),
  };
}

/** Every later change of an alert has a greater number than the account's newest change. */
const accountHead = prepareQuery((db, param: Param<{ accountId: string }>) =>
  db
    .selectFrom('account')
    .select(['alerts_total as total', 'alerts_version as version', 'alerts_removed as removed'])
    .select(['changes as key', 'changes as number', 'changes_nonce as nonce'])
    .where('id', '=', param('accountId')),
);

const domainHead = prepareQuery((db, param: Param<DomainOfAccount>) =>
  db
    .selectFrom('domain')
    .innerJoin('account', 'account.id', 'account_id')
    .select(['domain.alerts_total as total', 'domain.alerts_version as version'])
    .select('domain.alerts_removed as removed')
    .select(['changes as key', 'changes as number', 'changes_nonce as nonce'])
    .where('domain.id', '=', param('domainId'))
    .where('account_id', '=', param('accountId')),
);

export function fieldsOfAlert(db: Kysely<Tables>) {
  const { asInstant, asJson } = dialectOf(db);
  const { ref } = expressionBuilder<Tables, 'alert'>();
  return {
    id: ref('id'),
    domain_id: ref('domain_id'),
    // One that a later version has fired is another.
    type: ref('type').$castTo<AlertType>(),
    fired_at: asInstant(ref('fired_at')),
    resolved_at: asInstant(ref('resolved_at')),
    context: asJson<Readonly<Record<string, unknown>>>(ref('context')),
  };
}

interface AlertEvent {
  readonly id: string;
  readonly domainId: string;
  readonly event: EventType;
  readonly at: Instant;
}

/** Tells programs of an alert as the API lists it; people are told what it was told as besides. */
export async function insertAlertEvent(tx: Tx, { id, domainId, event, at }: AlertEvent) {
  const { jsonRow, typed } = dialectOf(tx);
  const toldAs = event.startsWith('mail.') && { told_as: sql.ref<string>('told_as') };
  const data = jsonRow({ ...fieldsOfAlert(tx), ...toldAs }).as('data');
  const alert = tx
    .selectFrom('alert')
    .select([typed(sql.val(randomUUID()), 'uuid').as('id'), 'account_id'])
    .select([typed(sql.val(event), 'text').as('type'), typed(sql.val(at), 'timestamptz').as('at')])
    .select([data, sql.lit(1 as const).as('is_new'), 'alert.id as alert_id'])
    .where(({ and }) => and({ 'alert.id': id, domain_id: domainId }))
    .where(hasReceivers(sql.ref('alert.account_id'), event));
  const columns = ['id', 'account_id', 'type', 'at', 'data', 'is_new', 'alert_id'] as const;
  await tx.insertInto('event').columns(columns).expression(alert).execute();
}
