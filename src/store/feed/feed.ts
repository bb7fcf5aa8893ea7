import { type Expression, type Kysely, sql } from 'kysely';
import type { Cursor, Start } from '../../domain/cursor.ts';
import type { Instant } from '../../domain/instant.ts';
import { fieldsOfAlert, type ListedAlert } from '../alerts/alert-list.ts';
import { fieldsOfDomain, type ListedDomain } from '../domains/domains.ts';
import { dialectOf, type JsonText } from '../engine/dialect.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import { findChange } from '../lists/changes.ts';
import type { ReportOfAccountRow } from '../reports/reports.ts';
import { fieldsOfAccount } from '../reports/reports.ts';
import type { Tables } from '../tables.ts';

/*
 * The changes of an account, oldest first: what carries a number, and what the table `change` says of that which has no row
 * any more. A client that puts and deletes by id has what the account's lists have when it comes to the end.
 */

/** What happened, and one of the others. */
export interface Change {
  readonly type: string;
  readonly domain_id: string;
  readonly at: Instant;
  readonly report?: ReportOfAccountRow;
  readonly report_id?: string;
  readonly domain?: ListedDomain;
  readonly alert?: ListedAlert;
}

/** The feed has an order of its own, and cursors. */
export const feedList = (accountId: string) => `changes ${accountId}`;

interface FeedQuery {
  readonly accountId: string;
  readonly start: Start;
  readonly limit: number;
}

export interface FeedPage {
  readonly version: string;
  readonly items: readonly JsonText<Change>[];
  readonly hasMore: boolean;
  /** Behind the last item. */
  readonly cursor: Cursor;
}

/** Another one after each change of the account; undefined when the cursor's change was lost or is forgotten. */
export function findFeedVersion(reader: Reader, query: FeedQuery): Promise<string | undefined> {
  return reader.readPlan(function* () {
    const { accountId, start } = query;
    // Its page may be the last one, too.
    const found = start === 'start' ? yield* planPage(query) : yield* planHead(accountId, start);
    return found?.version;
  });
}

/** undefined when the cursor's change was lost or is forgotten. */
export function readFeed(reader: Reader, query: FeedQuery): Promise<FeedPage | undefined> {
  return reader.readPlan(() => planPage(query));
}

function* planPage({ accountId, start, limit }: FeedQuery): Plan<FeedPage | undefined> {
  const head = yield* planHead(accountId, start);
  if (head === undefined) return undefined;
  const { end, number, nonce, after } = head;
  const rows = yield* ask(changesAfter({ accountId, after, limit: limit + 1 }));
  const page = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  const key = hasMore ? (page.at(-1)?.number ?? number) : number;
  const version = hasMore ? head.version : end;
  return { version, items: page.map(toItem), hasMore, cursor: { key, number, nonce } };
}

/**
 * The version of the end says that nothing is new. Before the end it has the start, too: a client that has read one page
 * must not be told so of the next one.
 */
function* planHead(accountId: string, start: Start) {
  const [head] = yield* ask(newestChange({ accountId }));
  if (head === undefined) return undefined;
  const isKnown = start === 'start' || (yield* findChange(accountId, start, head)) === 'known';
  if (!isKnown) return undefined;
  // Reports that go by age take no number, but give the list another version.
  const end = `${head.nonce}.${head.reports}`;
  const after = start === 'start' ? 0 : start.key;
  return { ...head, end, after, version: after < head.number ? `${end}.${after}` : end };
}

const newestChange = prepareQuery((db, param: Param<{ accountId: string }>) =>
  db
    .selectFrom('account')
    .select(['changes as number', 'changes_nonce as nonce', 'reports_version as reports'])
    .where('id', '=', param('accountId')),
);

type AfterQuery = { accountId: string; after: number; limit: number };

/** A change of the account, and its object, by its name, as JSON. */
interface ChangeRow {
  readonly number: number;
  readonly type: string;
  readonly domain_id: string;
  /** The moment of its transaction; when that is forgotten, of the object. */
  readonly at: Instant;
  readonly name: string | null;
  readonly object: string | null;
}

/** Nothing in these texts has to be escaped. */
function toItem({ type, domain_id, at, name, object }: ChangeRow): JsonText<Change> {
  const own = name === null ? '' : `,"${name}":${object}`;
  return `{"type":"${type}","domain_id":"${domain_id}","at":"${at}"${own}}`;
}

const changesAfter = prepareQuery((db, param: Param<AfterQuery>) => {
  const parts = [reportsStored, domainsListed, alertsChanged, others].map(
    (select) => sql`select * from (${select(db, param)}) as part`,
  );
  return db
    .selectFrom(sql<ChangeRow>`(${sql.join(parts, sql` union all `)})`.as('changed'))
    .select(['number', 'type', 'domain_id', 'name', 'object'])
    .select(({ fn, selectFrom }) => {
      const first = selectFrom('change as first')
        .select(({ fn }) => fn.min('first.number').as('number'))
        .where('first.account_seq', '=', accountSeq(db, param));
      return fn
        .coalesce(
          selectFrom('change')
            .select('change.at')
            .where('account_seq', '=', accountSeq(db, param))
            .whereRef('change.number', '>=', 'changed.number')
            // Without an earlier one, that of the transaction may have gone.
            .where('changed.number', '>', first)
            .orderBy('change.number')
            .limit(1),
          'changed.at',
        )
        .as('at');
    })
    .orderBy('number')
    .limit(param('limit'));
});

type Select = (db: Kysely<Tables>, param: Param<AfterQuery>) => Expression<unknown>;

const accountSeq = (db: Kysely<Tables>, param: Param<AfterQuery>) =>
  db.selectFrom('account').select('seq').where('id', '=', param('accountId'));

const text = (value: string) => sql<string>`cast(${sql.lit(value)} as text)`;

const reportsStored: Select = (db, param) =>
  db
    .selectFrom('report')
    .select(['report.number', text('report.stored').as('type'), 'report.domain_id'])
    .select(['report.received_at as at', text('report').as('name')])
    .select(dialectOf(db).jsonRow(fieldsOfAccount(db)).as('object'))
    .where('account_seq', '=', accountSeq(db, param))
    .where('report.number', '>', param('after'))
    .orderBy('report.number')
    .limit(param('limit'));

/** A domain that was added or resumed is told as it is now. */
const domainsListed: Select = (db, param) =>
  db
    .selectFrom('domain')
    .select(['domain.number', text('domain.listed').as('type'), 'domain.id as domain_id'])
    .select(['created_at as at', text('domain').as('name')])
    .select(dialectOf(db).jsonRow(fieldsOfDomain(db)).as('object'))
    .where('account_id', '=', param('accountId'))
    .where('domain.number', '>', param('after'))
    .where('status', '=', 'active')
    .orderBy('domain.number')
    .limit(param('limit'));

const alertsChanged: Select = (db, param) =>
  db
    .selectFrom('alert')
    .select(['last_change as number', text('alert.changed').as('type'), 'alert.domain_id'])
    .select(['alert.fired_at as at', text('alert').as('name')])
    .select(dialectOf(db).jsonRow(fieldsOfAlert(db)).as('object'))
    .where('account_id', '=', param('accountId'))
    .where('last_change', '>', param('after'))
    .orderBy('last_change')
    .limit(param('limit'));

/** What has no row of its own any more. */
const others: Select = (db, param) =>
  db
    .selectFrom('change')
    .select(['change.number', 'change.type', 'change.domain_id', 'change.at'])
    .select(sql<string>`case when report_id is not null then 'report_id' end`.as('name'))
    .select(sql<string>`'"' || report_id || '"'`.as('object'))
    .where('account_seq', '=', accountSeq(db, param))
    .where('change.number', '>', param('after'))
    .where('change.type', 'is not', null)
    .orderBy('change.number')
    .limit(param('limit'));
