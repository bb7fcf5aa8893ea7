import { randomUUID } from 'node:crypto';
import { expressionBuilder, type Kysely, sql } from 'kysely';
import type { AlertType } from '../../domain/alerts/registry.ts';
import type { EventType } from '../../domain/events.ts';
import { BEGIN_OF_TIME, END_OF_TIME, type Instant, later } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { dialectOf, type JsonRow } from '../engine/dialect.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { hasReceivers } from '../events/events.ts';
import { nonceOf, toFilteredId, versionOf } from '../lists/filtered.ts';
import type { FollowedList, ItemsAfterQuery } from '../lists/followed.ts';
import { isVersion } from '../lists/heads.ts';
import type { ItemsQuery } from '../lists/page.ts';
import { alertList, daysOf } from '../lists/timeline.ts';
import type { Tables } from '../tables.ts';

export type ListedAlert = JsonRow<ReturnType<typeof fieldsOfAlert>>;

export type AlertState = 'open' | 'resolved';

/** Which alerts a list has; all where nothing is given. */
export interface AlertFilter {
  readonly type?: string | undefined;
  readonly state?: AlertState | undefined;
  /** When they fired; the second is excluded. */
  readonly from?: Instant | undefined;
  readonly until?: Instant | undefined;
}

export interface AlertScope extends AlertFilter {
  readonly accountId: string;
  readonly domainId: string | undefined;
}

/** An account, or a domain of it. */
type OwnerQuery = { readonly accountId: string; readonly owner: string };
type FilteredQuery = OwnerQuery & {
  /** The id of the filtered list. */
  readonly list: string;
  readonly type: string;
  readonly since: Instant;
  readonly last: Instant;
};

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

/**
 * Alerts by `fired_at`, then by creation, latest first; who follows the list gets them in the order in which they fired or
 * resolved last. The list does not exist when the account has no such domain.
 */
export function alertsOf({
  accountId,
  domainId,
  ...filter
}: AlertScope): FollowedList<ListedAlert> {
  const owner = domainId ?? accountId;
  const whole = alertList(owner);
  const list = toFilteredId(whole, filter);
  const { type, state, from = BEGIN_OF_TIME, until } = filter;
  const isRanged = filter.from !== undefined || until !== undefined;
  const of = domainId === undefined ? 'account' : 'domain';
  const queries = queriesOf({ of, isOfType: type !== undefined, state, isRanged });
  const last = until === undefined ? END_OF_TIME : later(until, -1_000);
  const query = { accountId, owner, list, type: type ?? '', since: from, last };
  return {
    id: list,
    // Days have all alerts.
    ...(list === whole && { days: daysOf(whole) }),
    accountId,
    head: list === whole ? wholeHeads[of](query) : queries.head(query),
    items: (wanted) => queries.from({ ...query, ...wanted }),
    after: (wanted) => queries.after({ ...query, ...wanted }),
    countAfter: (after) => queries.count({ ...query, after }),
  };
}

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
    .select([data, sql.lit(1 as const).as('is_new')])
    .where(({ and }) => and({ 'alert.id': id, domain_id: domainId }))
    .where(hasReceivers(sql.ref('alert.account_id'), event));
  const columns = ['id', 'account_id', 'type', 'at', 'data', 'is_new'] as const;
  await tx.insertInto('event').columns(columns).expression(alert).execute();
}

type Owner = keyof typeof wholeHead;

const wholeHeads = {
  account: prepareQuery(wholeHead.account),
  domain: prepareQuery(wholeHead.domain),
} as const;

interface Kind {
  readonly of: Owner;
  readonly isOfType: boolean;
  readonly state: AlertState | undefined;
  readonly isRanged: boolean;
}

const prepared = new Map<string, ReturnType<typeof prepareAll>>();

/** Each of the few kinds has queries of its own, so that each reads the index that has least of what it leaves out. */
function queriesOf(kind: Kind) {
  const key = Object.values(kind).join(' ');
  const queries = prepared.get(key) ?? prepareAll(kind);
  prepared.set(key, queries);
  return queries;
}

function prepareAll(kind: Kind) {
  return { head: prepareHead(kind), ...prepareItems(kind) };
}

function selectAlerts<P extends FilteredQuery>(
  db: Kysely<Tables>,
  param: Param<P>,
  { of, isOfType, state }: Kind,
) {
  return db
    .selectFrom('alert')
    .where(`${of}_id`, '=', param('owner'))
    .$if(isOfType, (alerts) => alerts.where('type', '=', param('type')))
    .$if(state !== undefined, (alerts) =>
      alerts.where('resolved_at', state === 'open' ? 'is' : 'is not', null),
    );
}

function prepareHead(kind: Kind) {
  return prepareQuery((db, param: Param<FilteredQuery>) => {
    const counted = selectAlerts(db, param, kind)
      .select(({ fn, lit }) => [
        fn.countAll<number>().as('counted'),
        fn.coalesce(fn.max('last_change'), lit(0)).as('newest'),
      ])
      .$if(kind.isRanged, (alerts) =>
        alerts.where('fired_at', '>=', param('since')).where('fired_at', '<=', param('last')),
      );
    return db
      .selectFrom([wholeHead[kind.of](db, param).as('whole'), counted.as('sum')])
      .select(['counted as total', 'whole.version as whole', 'removed', 'key', 'number'])
      .select('whole.nonce')
      .select(({ ref }) => {
        const [total, newest] = [ref('counted'), ref('newest')];
        const nonce = nonceOf(db, ref('whole.seq'), newest);
        const state = { list: param('list'), total, newest, nonce, removed: ref('removed') };
        return versionOf(db, state).as('version');
      });
  });
}

function prepareItems(kind: Kind) {
  const { of, isRanged } = kind;
  /** By the order of their changes: a range is no reason to read all that fired in it (reports.ts says why not `= 1`). */
  const selectChanged = <P extends FilteredQuery & { after: number }>(
    db: Kysely<Tables>,
    param: Param<P>,
  ) => {
    const isInRange = sql<number>`case when fired_at >= ${param('since')}
      and fired_at <= ${param('last')} then 1 else 0 end`;
    // Not `= 1`: PostgreSQL would expect few of them, read all that changed, and sort them.
    return selectAlerts(db, param, kind)
      .where('number', '>', param('after'))
      .$if(isRanged, (alerts) => alerts.where(isInRange, '<>', 0));
  };
  return {
    from: prepareQuery((db, param: Param<FilteredQuery & ItemsQuery>) =>
      dialectOf(db).jsonRows(
        db,
        selectAlerts(db, param, kind)
          .where('fired_at', '<=', param(isRanged ? 'last' : 'until'))
          .$if(isRanged, (alerts) => alerts.where('fired_at', '>=', param('since')))
          .where(isVersion(`${of}.alerts_version`, [param('owner'), param('version')]))
          .orderBy('alert.fired_at', 'desc')
          .orderBy('seq', 'desc')
          .limit(param('limit'))
          .offset(param('skip')),
        fieldsOfAlert(db),
      ),
    ),
    after: prepareQuery((db, param: Param<FilteredQuery & ItemsAfterQuery>) =>
      selectChanged(db, param)
        .select(dialectOf(db).jsonRow(fieldsOfAlert(db)).as('item'))
        .select('number as key')
        .where(isVersion(`${of}.alerts_version`, [param('owner'), param('version')]))
        .orderBy('number')
        .limit(param('limit'))
        .offset(param('skip')),
    ),
    /** Their newest change distinguishes two states, with its transaction's nonce. */
    count: prepareQuery((db, param: Param<FilteredQuery & { after: number }>) =>
      db
        .selectFrom(
          selectChanged(db, param)
            .select(({ fn }) => [
              fn.countAll<number>().as('total'),
              fn.max('last_change').as('newest'),
            ])
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
