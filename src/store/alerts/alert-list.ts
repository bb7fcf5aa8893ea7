import { randomUUID } from 'node:crypto';
import { expressionBuilder, type Kysely, sql } from 'kysely';
import type { EventType } from '../../domain/events.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { dialectOf, type JsonRow } from '../engine/dialect.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import type { FollowedList, ItemsAfterQuery } from '../lists/followed.ts';
import { type DomainOfAccount, isVersion } from '../lists/heads.ts';
import type { ItemsQuery } from '../lists/page.ts';
import { alertList } from '../lists/timeline.ts';
import type { Tables } from '../tables.ts';

export type ListedAlert = JsonRow<ReturnType<typeof fieldsOfAlert>>;

export type AlertScope = { readonly accountId: string; readonly domainId: string | undefined };

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

const OWNERS = { account: prepareFor('account'), domain: prepareFor('domain') } as const;

/**
 * Alerts by `fired_at`, then by creation, latest first; who follows the list gets them in the order in which they fired or
 * resolved last. The list does not exist when the account has no such domain.
 */
export function alertsOf({ accountId, domainId }: AlertScope): FollowedList<ListedAlert> {
  const owner = domainId ?? accountId;
  const queries = OWNERS[domainId ? 'domain' : 'account'];
  return {
    id: alertList(owner),
    accountId,
    head: domainId === undefined ? accountHead({ accountId }) : domainHead({ accountId, domainId }),
    items: (wanted) => queries.from({ owner, ...wanted }),
    after: (wanted) => queries.after({ owner, ...wanted }),
    countAfter: (after) => queries.count({ accountId, owner, after }),
  };
}

export function fieldsOfAlert(db: Kysely<Tables>) {
  const { asInstant, asJson } = dialectOf(db);
  const { ref } = expressionBuilder<Tables, 'alert'>();
  return {
    id: ref('id'),
    domain_id: ref('domain_id'),
    type: ref('type'),
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

/** Tells of an alert as the API lists it. */
export async function insertAlertEvent(tx: Tx, { id, domainId, event, at }: AlertEvent) {
  const { jsonRow, typed } = dialectOf(tx);
  const alert = tx
    .selectFrom('alert')
    .select([typed(sql.val(randomUUID()), 'uuid').as('id'), 'account_id'])
    .select([typed(sql.val(event), 'text').as('type'), typed(sql.val(at), 'timestamptz').as('at')])
    .select([jsonRow(fieldsOfAlert(tx)).as('data'), sql.lit(1 as const).as('is_new')])
    .where(({ and }) => and({ 'alert.id': id, domain_id: domainId }));
  const columns = ['id', 'account_id', 'type', 'at', 'data', 'is_new'] as const;
  await tx.insertInto('event').columns(columns).expression(alert).execute();
}

function prepareFor(owner: 'account' | 'domain') {
  return {
    from: prepareQuery((db, param: Param<{ owner: string } & ItemsQuery>) =>
      dialectOf(db).jsonRows(
        db,
        db
          .selectFrom('alert')
          .where(`${owner}_id`, '=', param('owner'))
          .where('fired_at', '<=', param('until'))
          .where(isVersion(`${owner}.alerts_version`, [param('owner'), param('version')]))
          .orderBy('alert.fired_at', 'desc')
          .orderBy('seq', 'desc')
          .limit(param('limit'))
          .offset(param('skip')),
        fieldsOfAlert(db),
      ),
    ),
    after: prepareQuery((db, param: Param<{ owner: string } & ItemsAfterQuery>) =>
      db
        .selectFrom('alert')
        .select(dialectOf(db).jsonRow(fieldsOfAlert(db)).as('item'))
        .select('number as key')
        .where(`${owner}_id`, '=', param('owner'))
        .where('number', '>', param('after'))
        .where(isVersion(`${owner}.alerts_version`, [param('owner'), param('version')]))
        .orderBy('number')
        .limit(param('limit'))
        .offset(param('skip')),
    ),
    /** Their newest change distinguishes two states, with its transaction's nonce. */
    count: prepareQuery((db, param: Param<{ accountId: string; owner: string; after: number }>) =>
      db
        .selectFrom(
          db
            .selectFrom('alert')
            .select(({ fn }) => [
              fn.countAll<number>().as('total'),
              fn.max('last_change').as('newest'),
            ])
            .where(`${owner}_id`, '=', param('owner'))
            .where('number', '>', param('after'))
            .as('counted'),
        )
        .select(({ selectFrom }) => [
          'total',
          selectFrom('change')
            .select(sql<string>`newest || '.' || nonce`.as('state'))
            .where('account_seq', '=', ({ selectFrom }) =>
              selectFrom('account').select('seq').where('id', '=', param('accountId')),
            )
            .whereRef('number', '>=', 'counted.newest')
            .orderBy('number')
            .limit(1)
            .as('state'),
        ]),
    ),
  };
}
