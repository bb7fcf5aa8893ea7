import { setImmediate } from 'node:timers/promises';
import { type Expression, type Kysely, sql } from 'kysely';
import type { Cursor, Point, Start } from '../../domain/cursor.ts';
import type { ChangeType } from '../../domain/events.ts';
import type { Instant } from '../../domain/instant.ts';
import { fieldsOfAlert, type ListedAlert } from '../alerts/alert-list.ts';
import { fieldsOfDomain, type ListedDomain } from '../domains/domains.ts';
import { dialectOf, type JsonText } from '../engine/dialect.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { ask, askAll, type Plan, type Reader } from '../engine/reader.ts';
import { findChange } from '../lists/changes.ts';
import { DOMAIN_ID } from '../lists/heads.ts';
import { MAX_PAGE_BYTES, takeFitting } from '../lists/page.ts';
import type { ReportOfAccountRow } from '../reports/reports.ts';
import { fieldsOfAccount } from '../reports/reports.ts';
import { fieldsOfTls, type TlsReportRow } from '../reports/tls-reports.ts';
import type { Tables } from '../tables.ts';

/*
 * The changes of an account, oldest first: what carries a number, and what the table `change` says of that which has no row
 * any more. A client that puts and deletes by id has what the account's lists have when it comes to the end.
 */

/** What happened, and one of the others. */
export interface Change {
  readonly type:
    | ChangeType
    | 'report.stored'
    | 'tls_report.stored'
    | 'domain.listed'
    | 'alert.changed';
  readonly domain_id: string;
  readonly at: Instant;
  readonly report?: ReportOfAccountRow;
  readonly report_id?: string;
  readonly tls_report?: TlsReportRow;
  readonly tls_report_id?: string;
  readonly domain?: ListedDomain;
  readonly alert?: ListedAlert;
}

interface FeedQuery {
  readonly accountId: string;
  readonly start: Start;
  readonly limit: number;
  /** Where reports have their records. */
  readonly toRecords?: ToRecords | undefined;
  /** Whether TLS reports are told of. */
  readonly hasTls?: boolean | undefined;
}

/** The first of a content's records as JSON, in at most so many bytes, and how many the content has. */
export type ToRecords = (
  content: Uint8Array,
  maxBytes: number,
) => { readonly texts: readonly string[]; readonly kept: number };

/** Contents of some 200 usual reports. */
const LARGE_CONTENTS = 64 * 1024;
/** After so many bytes other requests have their turn. */
const BYTES_AT_ONCE = 128 * 1024;

export interface FeedPage {
  readonly items: readonly JsonText<Change>[];
  readonly hasMore: boolean;
  /** Behind the last item. */
  readonly cursor: Cursor;
  /** The version that a client is told: at the end another one than that of the place. */
  readonly tag: string;
}

export interface OpenFeed {
  /** Another one after each change of the account. */
  readonly version: string;
  /** Makes the page of what was read with the version. */
  readonly read: () => Promise<FeedPage>;
}

/** undefined when the cursor's change was lost or is forgotten. */
export async function openFeed(reader: Reader, query: FeedQuery): Promise<OpenFeed | undefined> {
  const { accountId, start, limit } = query;
  const [newest] = await reader.readFirst(newestChange({ accountId }));
  if (newest === undefined) return undefined;
  const isEnd = start !== 'start' && start.key === newest.number && start.nonce === newest.nonce;
  const read = isEnd
    ? { head: toPosition(newest, query), rows: [], contents: NO_CONTENTS }
    : await reader.readPlan(() => planRows(query, reader.isDivided?.()), { accountId });
  if (read === undefined) return undefined;
  const { head, rows } = read;
  // The first page may be the last one, too.
  const isWhole = start === 'start' && rows.length <= limit;
  return { version: isWhole ? head.end : head.version, read: () => toPage(query, read) };
}

/** @internal Tests follow the feed without a server. */
export async function readFeed(reader: Reader, query: FeedQuery): Promise<FeedPage | undefined> {
  return await (await openFeed(reader, query))?.read();
}

async function toPage(query: FeedQuery, read: ReadRows): Promise<FeedPage> {
  const { head, rows } = read;
  const { number, nonce } = head;
  const items = await (isLarge(read) ? inTurn(() => toItems(query, read)) : toItems(query, read));
  const hasMore = items.length < rows.length;
  const key = hasMore ? (rows[items.length - 1]?.number ?? number) : number;
  const tag = hasMore ? head.version : head.end;
  return { items, hasMore, cursor: { key, number, nonce }, tag };
}

const isLarge = ({ contents }: ReadRows): boolean =>
  contents.values().reduce((sum, { length }) => sum + length, 0) > LARGE_CONTENTS;

let last: Promise<unknown> = Promise.resolve();

/** Large pages are made one after another: thirty at once took 650 MB, and take 250. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const next = last.then(work);
  last = next.catch(() => undefined);
  return next;
}

const NO_CONTENTS: ReadRows['contents'] = new Map();

interface ReadRows {
  readonly head: Position;
  /** One more than the page can have. */
  readonly rows: readonly ChangeRow[];
  /** Of the reports that may fit into the page, by their numbers. */
  readonly contents: ReadonlyMap<number | null, Uint8Array>;
}

function* planRows(query: FeedQuery, isDivided = false): Plan<ReadRows | undefined> {
  const { accountId, start, limit, toRecords } = query;
  const [newest] = yield* ask(newestChange({ accountId }));
  if (newest === undefined) return undefined;
  const isKnown = start === 'start' || (yield* findChange(accountId, start, newest)) === 'known';
  if (!isKnown) return undefined;
  const position = toPosition(newest, query);
  const { after } = position;
  const { changes, stored, withStored } = query.hasTls ? FEED.both : FEED.dmarc;
  const wanted = { accountId, after, limit: limit + 1, stored: '' };
  const found = isDivided ? yield* askAll(...stored.map((select) => select(wanted))) : [];
  const rows = isDivided
    ? yield* ask(withStored({ ...wanted, stored: JSON.stringify(found.flat()) }))
    : yield* ask(changes(wanted));
  const head = rows.length === 0 ? toSilent(position, query) : position;
  // Contents take less than their records as JSON.
  const until = toRecords && takeFitting(rows, ({ bytes }) => bytes).at(-1)?.number;
  const read = until === undefined ? [] : yield* ask(contentsOf({ accountId, after, until }));
  return { head, rows, contents: new Map(read.map(({ number, content }) => [number, content])) };
}

const contentsOf = prepareQuery(
  (db, param: Param<{ accountId: string; after: number; until: number }>) =>
    selectStored(db, param)
      .select(['report.number', 'content'])
      .where('report.number', '<=', param('until')),
);

/** As many items as fit into a page, at least one. */
async function toItems({ limit, toRecords }: FeedQuery, { rows, contents }: ReadRows) {
  const items: JsonText<Change>[] = [];
  let [room, turn] = [MAX_PAGE_BYTES, MAX_PAGE_BYTES];
  for (const row of rows.slice(0, limit)) {
    const { item, isWhole } = toRecords
      ? withRecords(row, contents?.get(row.number), { room, toRecords })
      : { item: toItem(row), isWhole: true };
    const left = room - Buffer.byteLength(item) - 1;
    if (items.length > 0 && (left < 0 || !isWhole)) break;
    items.push(item);
    room = left;
    if (turn - room < BYTES_AT_ONCE) continue;
    await setImmediate();
    turn = room;
  }
  return items;
}

interface Position extends Point {
  /** The versions of the account's lists. */
  readonly lists: string;
  /** The version of the end, and the one of this place. */
  readonly end: string;
  readonly version: string;
  readonly after: number;
}

/**
 * The version of the end says that nothing is new. Before the end it has the start, too: a client that has read one page
 * must not be told so of the next one.
 */
function toPosition({ reports, tls, ...newest }: Newest, { start, hasTls }: FeedQuery): Position {
  // Reports that go by age take no number, but give the list another version.
  const lists = hasTls ? `${reports}.${tls}` : reports;
  const end = `${newest.nonce}.${lists}`;
  const after = start === 'start' ? 0 : start.key;
  return { ...newest, lists, end, after, version: after < newest.number ? `${end}.${after}` : end };
}

/** Where changes came that this client is not told of, as of TLS reports, nothing is new: the version of the end that it was told. */
function toSilent(position: Position, { start, hasTls }: FeedQuery): Position {
  if (hasTls || start === 'start') return position;
  const end = `${start.nonce}.${position.lists}`;
  return { ...position, end, version: end };
}

type Newest = Point & { readonly reports: string; readonly tls: string };

const newestChange = prepareQuery((db, param: Param<{ accountId: string }>) =>
  db
    .selectFrom('account')
    .select(['changes as number', 'changes_nonce as nonce', 'reports_version as reports'])
    .select(({ fn }) => fn.coalesce('tls_version', sql.lit('')).as('tls'))
    .where('id', '=', param('accountId')),
);

/** `stored`: JSON of rows of reports that were read before. */
type AfterQuery = { accountId: string; after: number; limit: number; stored: string };

/** A change of the account, and its object, by its name, as JSON. */
interface ChangeRow {
  readonly number: number;
  readonly type: Change['type'];
  readonly domain_id: string;
  /** The moment of its transaction; when that is forgotten, of the object. */
  readonly at: Instant;
  readonly name: string | null;
  readonly object: string | null;
  /** Of a report's content. */
  readonly bytes: number;
}

/** The item of a report, as long as there is room, and whether that is all of it. */
function withRecords(
  row: ChangeRow,
  content: Uint8Array | undefined,
  { room, toRecords }: { readonly room: number; readonly toRecords: ToRecords },
) {
  const item = toItem(row);
  if (row.name !== 'report') return { item, isWhole: true };
  if (content === undefined) return { item, isWhole: false };
  const { texts, kept } = toRecords(content, room - Buffer.byteLength(item));
  const unlisted = JSON.parse(row.object ?? '').record_count - texts.length;
  // Behind the last field of the report.
  const records = `,"records":[${texts.join()}],"unlisted_records":${unlisted}}}`;
  return { item: `${item.slice(0, -2)}${records}`, isWhole: texts.length === kept };
}

/** Nothing in these texts has to be escaped. */
function toItem({ type, domain_id, at, name, object }: ChangeRow): JsonText<Change> {
  const own = name === null ? '' : `,"${name}":${object}`;
  return `{"type":"${type}","domain_id":"${domain_id}","at":"${at}"${own}}`;
}

const prepareChanges = (selects: readonly Select[]) =>
  prepareQuery((db, param: Param<AfterQuery>) => {
    const parts = selects.map((select) => sql`select * from (${select(db, param)}) as part`);
    return db
      .selectFrom(sql<ChangeRow>`(${sql.join(parts, sql` union all `)})`.as('changed'))
      .select(['number', 'type', 'domain_id', 'name', 'object', 'bytes'])
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

const accountSeq = (db: Kysely<Tables>, param: Param<{ accountId: string }>) =>
  db.selectFrom('account').select('seq').where('id', '=', param('accountId'));

const NO_CONTENT = sql.lit(0).as('bytes');

const text = (value: string) => sql<string>`cast(${sql.lit(value)} as text)`;

/** A report is told behind its domain: while that is being paused, or resumed, some have their former numbers. */
function selectStored<P extends { accountId: string; after: number }>(
  db: Kysely<Tables>,
  param: Param<P>,
  owner: 'account_seq' | 'tls_account_seq' = 'account_seq',
) {
  return db
    .selectFrom('report')
    .where(owner, '=', accountSeq(db, param))
    .where('report.number', '>', param('after'))
    .where('report.number', '>', ({ selectFrom }) =>
      selectFrom('domain')
        .select('domain.number')
        .whereRef('domain.seq', '=', 'report.domain_seq')
        .where('account_id', '=', param('accountId'))
        .where('status', '=', 'active'),
    );
}

const reportsStored: Select = (db, param) =>
  selectStored(db, param)
    .select(['report.number', text('report.stored').as('type')])
    .select(DOMAIN_ID.as('domain_id'))
    .select(['report.received_at as at', text('report').as('name')])
    .select(dialectOf(db).jsonRow(fieldsOfAccount(db)).as('object'))
    .select(sql<number>`length(report.content)`.as('bytes'))
    .orderBy('report.number')
    .limit(param('limit'));

const tlsStored: Select = (db, param) =>
  selectStored(db, param, 'tls_account_seq')
    .select(['report.number', text('tls_report.stored').as('type')])
    .select(DOMAIN_ID.as('domain_id'))
    .select(['report.received_at as at', text('tls_report').as('name')])
    .select([dialectOf(db).jsonRow(fieldsOfTls(db)).as('object'), NO_CONTENT])
    .orderBy('report.number')
    .limit(param('limit'));

/** A domain that was added or resumed is told as it is now. */
const domainsListed: Select = (db, param) =>
  db
    .selectFrom('domain')
    .select(['domain.number', text('domain.listed').as('type'), 'domain.id as domain_id'])
    .select(['created_at as at', text('domain').as('name')])
    .select([dialectOf(db).jsonRow(fieldsOfDomain(db)).as('object'), NO_CONTENT])
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
    .select([dialectOf(db).jsonRow(fieldsOfAlert(db)).as('object'), NO_CONTENT])
    .where('account_id', '=', param('accountId'))
    .where('last_change', '>', param('after'))
    .orderBy('last_change')
    .limit(param('limit'));

/** What has no row of its own any more. */
const selectOthers =
  (hasTls: boolean): Select =>
  (db, param) =>
    db
      .selectFrom('change')
      .select(['change.number', 'change.type', 'change.domain_id', 'change.at'])
      .select(
        sql<string>`case when report_id is not null then
        case when type = ${REMOVED_TLS} then 'tls_report_id' else 'report_id' end end`.as('name'),
      )
      .select([sql<string>`'"' || report_id || '"'`.as('object'), NO_CONTENT])
      .where('account_seq', '=', accountSeq(db, param))
      .where('change.number', '>', param('after'))
      .where('change.type', 'is not', null)
      .$if(!hasTls, (query) => query.where('change.type', '<>', REMOVED_TLS))
      .orderBy('change.number')
      .limit(param('limit'));

const REMOVED_TLS = sql.lit('tls_report.removed' as const);

/** Columns of a `ChangeRow`. */
const storedBefore: Select = (_db, param) =>
  sql`select * from json_to_recordset(${param('stored')}::json) as stored
    (number bigint, type text, domain_id uuid, at timestamptz, name text, object text, bytes integer)`;

function prepareFeed(hasTls: boolean) {
  const ofReports = hasTls ? [reportsStored, tlsStored] : [reportsStored];
  const others = [domainsListed, alertsChanged, selectOthers(hasTls)];
  return {
    changes: prepareChanges([...ofReports, ...others]),
    // Citus joins nothing of the coordinator with what it has read from several servers, so those come first.
    stored: ofReports.map((select) =>
      prepareQuery((db, param: Param<AfterQuery>) => sql<ChangeRow>`${select(db, param)}`),
    ),
    withStored: prepareChanges([storedBefore, ...others]),
  };
}

const FEED = { dmarc: prepareFeed(false), both: prepareFeed(true) };
