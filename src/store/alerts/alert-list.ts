import { randomUUID } from 'node:crypto';
import { expressionBuilder, type Kysely, sql } from 'kysely';
import type { EventType } from '../../domain/events.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { dialectOf, type JsonRow } from '../engine/dialect.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { hasReceivers } from '../events/events.ts';
import type { FollowedList, ItemsAfterQuery } from '../lists/followed.ts';
import { isVersion } from '../lists/heads.ts';
import type { ItemsQuery } from '../lists/page.ts';
import { alertList } from '../lists/timeline.ts';
import type { Tables } from '../tables.ts';

export type ListedAlert = JsonRow<ReturnType<typeof fieldsOfAlert>>;

export interface AlertScope {
  readonly accountId: string;
  readonly domainId: string | undefined;
  /** Without one, alerts of all types are listed. */
  readonly type?: string | undefined;
}

/** An account, or a domain of it. */
type OwnerQuery = { readonly accountId: string; readonly owner: string };
type TypeQuery = OwnerQuery & { readonly type: string; readonly list: string };

/** Every later change of an alert has a greater number than the account's newest change. */
const wholeHead = {
  account: (db: Kysely<Tables>, param: Param<OwnerQuery>) =>
    db
      .selectFrom('account')
      .select(['alerts_total as total', 'alerts_version as version', 'alerts_removed as removed'])
      .select(['changes as key', 'changes as number', 'changes_nonce as nonce', 'account.seq'])
      .where('id', '=', param('accountId')),
  domain: (db: Kysely<Tables>, param: Param<OwnerQuery>) =>
    db
      .selectFrom('domain')
      .innerJoin('account', 'account.id', 'account_id')
      .select(['domain.alerts_total as total', 'domain.alerts_version as version'])
      .select('domain.alerts_removed as removed')
      .select(['changes as key', 'changes as number', 'changes_nonce as nonce', 'account.seq'])
      .where('domain.id', '=', param('owner'))
      .where('account_id', '=', param('accountId')),
};

const OWNERS = { account: prepareFor('account'), domain: prepareFor('domain') } as const;

/**
 * Alerts by `fired_at`, then by creation, latest first; who follows the list gets them in the order in which they fired or
 * resolved last. The list does not exist when the account has no such domain.
 */
export function alertsOf({ accountId, domainId, type }: AlertScope): FollowedList<ListedAlert> {
  const owner = domainId ?? accountId;
  const { all, ofType } = OWNERS[domainId === undefined ? 'account' : 'domain'];
  const whole = alertList(owner);
  const list = type === undefined ? whole : `${whole}.${type}`;
  const queries = type === undefined ? all : ofType;
  const of = { accountId, owner, list, type: type ?? '' };
  return {
    id: list,
    // Days have the alerts of all types.
    ...(type === undefined && { days: whole }),
    accountId,
    head: queries.head(of),
    items: (wanted) => queries.from({ ...of, ...wanted }),
    after: (wanted) => queries.after({ ...of, ...wanted }),
    countAfter: (after) => queries.count({ ...of, after }),
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

/** Tells programs of an alert as the API lists it; people are told what it was told as besides. */
export async function insertAlertEvent(tx: Tx, { id, domainId, event, at }: AlertEvent) {
  const { jsonRow, typed } = dialectOf(tx);
  const toldAs = event.startsWith('mail.') && { told_as: sql.ref<string>('told_as') };
  const data = jsonRow({ ...fieldsOfAlert(tx), ...toldAs }).as('data');
  const alert = tx
    .selectFrom('alert')
    .select([typed(sql.val(randomUUID()), 'uuid').as('id'), 'account_id'])
    .select([typed(sql.val(event), 'text').as('type'), typed(sql.val(at), 'timestamptz').as('at')])
    .select([data, sql.lit(1 as const).as('is_new')])
    .where(({ and }) => and({ 'alert.id': id, domain_id: domainId }))
    .where(hasReceivers(sql.ref('alert.account_id'), event));
  const columns = ['id', 'account_id', 'type', 'at', 'data', 'is_new'] as const;
  await tx.insertInto('event').columns(columns).expression(alert).execute();
}

type Owner = keyof typeof wholeHead;

function prepareFor(owner: Owner) {
  const all = prepareQuery((db, param: Param<TypeQuery>) => wholeHead[owner](db, param));
  return {
    all: { head: all, ...prepareItems(owner, { isOfType: false }) },
    ofType: { head: prepareTypeHead(owner), ...prepareItems(owner, { isOfType: true }) },
  };
}

/**
 * Counts the alerts of a type. Its version changes when they do: it has the number of their newest change, or of the removal
 * of any alert, which every change raises, and the nonce of that transaction.
 */
function prepareTypeHead(owner: Owner) {
  return prepareQuery((db, param: Param<TypeQuery>) => {
    const counted = db
      .selectFrom('alert')
      .select(({ fn }) => [fn.countAll<number>().as('total'), fn.max('last_change').as('newest')])
      .where(`${owner}_id`, '=', param('owner'))
      .where('type', '=', param('type'));
    const last = sql<number>`case when newest > removed then newest else removed end`;
    const head = db
      .selectFrom([wholeHead[owner](db, param).as('whole'), counted.as('counted')])
      .select(['counted.total', 'whole.version as whole', 'seq', last.as('last')])
      .select(['removed', 'key', 'number', 'nonce']);
    const nonce = db
      .selectFrom('change')
      .select('change.nonce')
      .whereRef('account_seq', '=', 'head.seq' as never)
      .whereRef('change.number', '>=', 'head.last' as never)
      .orderBy('change.number')
      .limit(1);
    const state = sql`case when last = 0 then '' else coalesce((${nonce}), '') end`;
    const list = dialectOf(db).typed(param('list'), 'text');
    const version = sql<string>`${list} || '.' || total || '.' || last || '.' || ${state}`;
    return db
      .selectFrom(head.as('head'))
      .select(['total', 'whole', 'removed', 'key', 'number', 'nonce', version.as('version')]);
  });
}

function prepareItems(owner: Owner, { isOfType }: { readonly isOfType: boolean }) {
  const alertsIn = (db: Kysely<Tables>, param: Param<TypeQuery>) =>
    db
      .selectFrom('alert')
      .where(`${owner}_id`, '=', param('owner'))
      .$if(isOfType, (alerts) => alerts.where('type', '=', param('type')));
  return {
    from: prepareQuery((db, param: Param<TypeQuery & ItemsQuery>) =>
      dialectOf(db).jsonRows(
        db,
        alertsIn(db, param)
          .where('fired_at', '<=', param('until'))
          .where(isVersion(`${owner}.alerts_version`, [param('owner'), param('version')]))
          .orderBy('alert.fired_at', 'desc')
          .orderBy('seq', 'desc')
          .limit(param('limit'))
          .offset(param('skip')),
        fieldsOfAlert(db),
      ),
    ),
    after: prepareQuery((db, param: Param<TypeQuery & ItemsAfterQuery>) =>
      alertsIn(db, param)
        .select(dialectOf(db).jsonRow(fieldsOfAlert(db)).as('item'))
        .select('number as key')
        .where('number', '>', param('after'))
        .where(isVersion(`${owner}.alerts_version`, [param('owner'), param('version')]))
        .orderBy('number')
        .limit(param('limit'))
        .offset(param('skip')),
    ),
    /** Their newest change distinguishes two states, with its transaction's nonce. */
    count: prepareQuery((db, param: Param<TypeQuery & { after: number }>) =>
      db
        .selectFrom(
          alertsIn(db, param)
            .select(({ fn }) => [
              fn.countAll<number>().as('total'),
              fn.max('last_change').as('newest'),
            ])
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
