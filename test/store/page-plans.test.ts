import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Start } from '../../src/domain/cursor.ts';
import { reverse } from '../../src/domain/domain-name.ts';
import { addDays } from '../../src/domain/instant.ts';
import { toReporterKey } from '../../src/domain/reports/reporters.ts';
import { type ALERT_FILTERS, alertsOf } from '../../src/store/alerts/alert-list.ts';
import {
  type DOMAIN_FILTERS,
  type DomainFilter,
  domainsOf,
} from '../../src/store/domains/domains.ts';
import type { Db } from '../../src/store/engine/database.ts';
import type { BoundQuery } from '../../src/store/engine/prepared.ts';
import type { Reader } from '../../src/store/engine/reader.ts';
import { readFeed } from '../../src/store/feed/feed.ts';
import type { Filters, Wanted } from '../../src/store/lists/declaration.ts';
import {
  type FollowedHead,
  type FollowedList,
  findFollowedHead,
  readFollowedPage,
} from '../../src/store/lists/followed.ts';
import { type Head, newVersion } from '../../src/store/lists/heads.ts';
import { findHead, type PagedList, readCurrentPage } from '../../src/store/lists/page.ts';
import { accountReportList, alertList } from '../../src/store/lists/timeline.ts';
import {
  type REPORT_FILTERS,
  reportsInAccount,
  reportsOf,
  reportsOfAccount,
} from '../../src/store/reports/reports.ts';
import { type TLS_FILTERS, tlsReportsOf } from '../../src/store/reports/tls-reports.ts';
import type { Tables } from '../../src/store/tables.ts';
import { aBareAccount, aDomain, NOW } from '../support/builders.ts';
import { explain, record } from '../support/plans.ts';
import { aStore, IS_POSTGRES } from '../support/store.ts';

const DAYS = Array.from({ length: 300 }, (_, i) => addDays('2025-01-01', i));
const OF_DAY = 4;
const ITEMS = DAYS.length * OF_DAY;
/** So many reports of a day are the reporter's. If all were, reading the whole domain would cost PostgreSQL as little. */
const OF_REPORTER = 2;
/** Of the domains, so many belong to the account. */
const [DOMAINS, OWN] = [2_000, 400];
/** So many other accounts have as many items. */
const OTHERS = 5;
/** Reports have the first numbers of the account's changes, then alerts, then domains. */
const [CHANGES, CHANGE_EVERY, ACCOUNTS] = [1_200, 4, 10];
const NONCE = 'AAAAAAAA';
const REPORTER = toReporterKey('Mailbox Provider');
/** Of the alerts of an owner, most have the first one. */
const TYPES = ['alert.policy_weakened', 'alert.reports_missing'] as const;
/** Those that get more rows with what comes in. */
const GROWING = /(?:Seq Scan on|SCAN) (?:report|alert|domain|domain_day|list_day|change)\b/;
const SORT = /(?:^|-> +)(?:Incremental )?Sort|TEMP B-TREE/;
/** An index that is read, and by what: PostgreSQL tells it in the next line. */
const READ =
  /(?:(?:Backward )?using|Bitmap Index Scan on|USING (?:COVERING )?INDEX) \w+.*(?:\n +Index Cond: .*)?/g;
/** A list's days are few, and so are the names below one, and the reports of a reporter. */
const IS_SHORT = /domain_day|list_day|domain_below|report_(?:account_)?reporter/;
/** One row: by its key, or the last one of a kind that a domain has. */
const IS_ROW =
  /_id_key|_autoindex_|seq = |COVERING INDEX report_arrival \(domain_seq=\?\)$|Backward .*\n.*\(domain_seq = domain\.seq\)(?: AND \(kind IS NULL\)\))?$/;
const listReads = (plan: string) => plan.match(READ) ?? [];
const isLong = (read: string) => !IS_SHORT.test(read) && !IS_ROW.test(read);

/** A domain gets a few TLS reports a day: those of a reporter have no index of their own. */
const isOfFewTls = (read: string, plan: string) =>
  /report_tls\b/.test(read) && /union|MERGE|Append/i.test(plan);

const MERGE = /Merge Append|MERGE \(UNION ALL\)/;
/** SQLite sorts what a part of a merge has, which ends where the page does. */
const SORT_OF_PART = 'SCAN part\nUSE TEMP B-TREE FOR ORDER BY';

test('every query of a page reads an index, and nothing sorts a list', async () => {
  const { db, reader } = await aStore();
  const scope = await fill(db);
  const asked: BoundQuery<unknown>[] = [];
  await readPages(record(reader, asked), toLists(scope));
  const plans = await explainAll(db, asked);
  const isSlow = (plan: string) =>
    GROWING.test(plan) ||
    (SORT.test(plan) && listReads(plan).some((read) => isLong(read) && !isOfFewTls(read, plan)));
  expect(asked.length).toBeGreaterThan(40);
  expect(plans.filter(isSlow)).toEqual([]);
  for (const index of OF_TYPE) expect(plans.some((plan) => index.test(plan))).toBe(true);
});

test('a page of a reporter reads no reports of others', async () => {
  const { db, reader } = await aStore();
  const scope = await fill(db);
  const asked: BoundQuery<unknown>[] = [];
  const named = { reporter: 'mailbox provider' };
  const filters = [named, { ...named, ...RANGE }];
  await readPages(record(reader, asked), {
    followed: filters.map((filter) => reportsOf(scope, filter)),
    paged: filters.flatMap((filter) => [
      reportsOfAccount(scope.accountId, filter),
      reportsInAccount(scope, filter),
    ]),
  });
  const plans = await explainAll(db, asked);
  expect(plans.filter((plan) => GROWING.test(plan))).toEqual([]);
  const reads = plans.flatMap(listReads).filter((read) => /\breport_/.test(read));
  expect(reads.filter(isLong)).toEqual([]);
  // An account may have many of a reporter: they are read up to the end of the page.
  const ofAccount = plans.filter((plan) => plan.includes('report_account_reporter'));
  const isSorted = (plan: string) => SORT.test(plan.replaceAll(SORT_OF_PART, ''));
  expect(ofAccount.filter((plan) => isSorted(plan) || !MERGE.test(plan))).toEqual([]);
  for (const index of ['report_reporter', 'report_account_reporter'])
    for (const read of [index, `${index}_host`])
      expect(reads.some((one) => one.includes(`${read} `))).toBe(true);
});

/** What reads the alerts of a type, whatever other alerts an account has. */
const OF_TYPE = [/alert_type_list/, /alert_type_change/];

test('a page of the feed reads what it has, whatever else the account has, and merges it', async () => {
  const { db, reader } = await aStore();
  const { accountId } = await fill(db);
  const asked: BoundQuery<unknown>[] = [];
  const recorded = record(reader, asked);
  for (const start of ['start', ...[0, 600, 2_000, 3_500].map(behind)] as const)
    for (const limit of [1, 50, 400]) {
      const page = await readFeed(recorded, { accountId, start, limit });
      expect(page?.items).toHaveLength(limit);
    }
  const plans = await explainAll(db, asked);
  expect(plans.filter((plan) => GROWING.test(plan))).toEqual([]);
  const pages = plans.filter((plan) => OF_FEED[0]?.test(plan));
  expect(pages).toHaveLength(IS_POSTGRES ? 2 * 15 : 15);
  for (const plan of pages) for (const part of OF_FEED) expect(plan).toMatch(part);
});

test('and the same for who asks for TLS reports, by an index of their own', async () => {
  const { db, reader } = await aStore();
  const { accountId } = await fill(db);
  const asked: BoundQuery<unknown>[] = [];
  const recorded = record(reader, asked);
  for (const start of ['start', behind(600)] as const)
    for (const limit of [1, 50])
      await readFeed(recorded, { accountId, start, limit, hasTls: true });
  const plans = await explainAll(db, asked);
  expect(plans.filter((plan) => GROWING.test(plan))).toEqual([]);
  const pages = plans.filter((plan) => /report_tls_change/.test(plan));
  expect(pages).toHaveLength(IS_POSTGRES ? 2 * 4 : 4);
  for (const plan of pages) for (const part of OF_FEED) expect(plan).toMatch(part);
});

/** Each part reads its rows by number. PostgreSQL may sort the domains that are left, when it reads all of them. */
const OF_FEED = IS_POSTGRES
  ? [
      ...[/Merge Append/, /Index Scan (using|on) report_change/],
      ...[/Index Scan (using|on) alert_last_change/, /domain_change/, /change_typed/],
    ]
  : [/COMPOUND QUERY/, /report_change/, /alert_last_change/, /domain_change/, /change_typed/];

async function explainAll(db: Db, asked: readonly BoundQuery<unknown>[]): Promise<string[]> {
  return await db.write(async (tx) => {
    if (IS_POSTGRES) await sql`analyze`.execute(tx);
    const found: string[] = [];
    for (const isGeneric of IS_POSTGRES ? [false, true] : [false])
      for (const query of asked) found.push((await explain(tx, query, { isGeneric })).join('\n'));
    return found;
  });
}

type Scope = Awaited<ReturnType<typeof fill>>;

interface Lists {
  readonly followed: readonly FollowedList<unknown>[];
  /** Those that are not followed. */
  readonly paged: readonly PagedList<unknown>[];
}

const RANGE = { from: `${DAYS[20]}`, until: `${DAYS[280]}` };

const toInstant = (i: number) => `${DAYS[Math.floor((i - 1) / OF_DAY)]}T00:00:00Z`;

const FIRED = { from: toInstant(20), until: toInstant(1_100) };

/** Each list with all of its filters: one that is declared and not set here does not compile. */
const ALL: {
  readonly reports: AllOf<typeof REPORT_FILTERS>;
  readonly tls: AllOf<typeof TLS_FILTERS>;
  readonly alerts: AllOf<typeof ALERT_FILTERS>;
  readonly domains: AllOf<typeof DOMAIN_FILTERS>;
} = {
  reports: { ...RANGE, reporter: 'mailbox provider' },
  tls: { ...RANGE, reporter: 'mailbox provider', failing: 'true' },
  alerts: { ...FIRED, type: TYPES[0], state: 'resolved' },
  domains: { name: '*.example', status: 'active' },
};
type AllOf<F extends Filters> = { readonly [Name in keyof F]: NonNullable<Wanted<F>[Name]> };

function toLists(scope: Scope): Lists {
  const ofAccount = { accountId: scope.accountId, domainId: undefined };
  const ofReports = [{}, RANGE, ALL.reports];
  return {
    followed: [
      ...ofReports.map((filter) => reportsOf(scope, filter)),
      ...[...ofReports, ALL.tls].map((filter) => tlsReportsOf(scope, filter)),
      ...[scope, ofAccount].flatMap((scope) => [
        alertsOf(scope),
        alertsOf({ ...scope, type: TYPES[0] }),
        alertsOf({ ...scope, ...FIRED }),
        alertsOf({ ...scope, ...ALL.alerts }),
        alertsOf({ ...scope, state: 'resolved' }),
      ]),
    ],
    paged: [
      ...ofReports.map((filter) => reportsOfAccount(scope.accountId, filter)),
      ...ofReports.map((filter) => reportsInAccount(scope, filter)),
      ...[{}, { status: 'all' }, { name: '*.example' }, ALL.domains].map((filter) =>
        domainsOf(scope.accountId, filter as DomainFilter),
      ),
    ],
  };
}

async function readPages(reader: Reader, { followed, paged }: Lists): Promise<void> {
  for (const list of [...followed, ...paged])
    for (const offset of [0, 100]) {
      const head = (await findHead(reader, list)) as Head;
      const { items } = await readCurrentPage(reader, list, { page: { limit: 50, offset }, head });
      expect(items).toHaveLength(50);
    }
  for (const list of followed)
    for (const start of ['start', behind(600)] as const)
      for (const offset of [0, 200]) {
        const head = (await findFollowedHead(reader, list, start)) as FollowedHead;
        const page = { limit: 50, offset };
        const read = await readFollowedPage(reader, list, { start, page, head });
        expect(read).toMatchObject({ items: { length: 50 } });
      }
}

/** A cursor of before the account's newest change. */
const behind = (key: number): Start => ({ key, number: CHANGE_EVERY, nonce: NONCE });

/** A domain with reports and alerts, among others. */
async function fill(db: Db) {
  const accountId = await aBareAccount(db);
  const { id: domainId } = await aDomain(db, accountId);
  const scope = { accountId, domainId };
  await insertAll(db, 'domain', numbers(DOMAINS), (i) => ({
    ...{ id: randomUUID(), name: `other-${i}.example`, created_at: NOW },
    ...{ reversed: reverse(`other-${i}.example`), status: i % 10 === 9 ? 'paused' : 'active' },
    ...(i <= OWN
      ? { account_id: accountId, number: 3 * ITEMS + i }
      : { account_id: null, number: 0 }),
    ...{ reports_version: newVersion(), alerts_version: newVersion() },
  }));
  const counts = {
    belief: 'established',
    reports: OF_DAY,
    messages: 1,
    aligned: 1,
    sources: randomBytes(300),
  };
  await insertAll(db, 'domain_day', DAYS, (day) => ({ domain_id: domainId, day, ...counts }));
  for (const list_id of [alertList(domainId), alertList(accountId), accountReportList(accountId)])
    for (const part of [0, REPORTER])
      await insertAll(db, 'list_day', DAYS, (day) => ({
        ...{ list_id, part, day },
        items: part === 0 ? OF_DAY : OF_REPORTER,
      }));
  await insertItems(db, { ...scope, seq: 1 });
  for (const i of numbers(OTHERS)) {
    const accountId = await aBareAccount(db);
    await insertItems(db, { accountId, domainId: (await aDomain(db, accountId)).id, seq: 1 + i });
  }
  await db.write((tx) => tx.deleteFrom('change').execute());
  for (const account_seq of numbers(ACCOUNTS))
    await insertAll(db, 'change', numbers(CHANGES), (i) => ({
      ...{ account_seq, number: CHANGE_EVERY * i, at: NOW, nonce: NONCE },
      ...(i % 100 === 0 && { type: 'domain.unlisted', domain_id: domainId }),
    }));
  await db.write(async (tx) => {
    const domain = tx
      .updateTable('domain')
      .set({ alerts_total: ITEMS, reports_total: ITEMS, tls_total: ITEMS, tls_version: 'a' });
    await domain.where('id', '=', domainId).execute();
    const totals = { alerts_total: ITEMS, reports_total: ITEMS, domains_total: OWN + 1 };
    const changes = { changes: CHANGE_EVERY * CHANGES, changes_nonce: NONCE };
    await tx
      .updateTable('account')
      .set({ ...totals, ...changes })
      .execute();
    for (const rows of OF_OTHERS) await sql.raw(rows).execute(tx);
  });
  return scope;
}

interface Owner {
  readonly accountId: string;
  readonly domainId: string;
  /** Of the account. */
  readonly seq: number;
}

async function insertItems(db: Db, owner: Owner): Promise<void> {
  const domain = db.selectFrom('domain').select('seq').where('id', '=', owner.domainId);
  const { seq: domain_seq } = await domain.executeTakeFirstOrThrow();
  const places = { domain_seq, account_seq: owner.seq };
  await insertAll(db, 'report', numbers(ITEMS), (i) => toReport(places, i));
  await insertAll(db, 'report', numbers(ITEMS), (i) => ({
    ...{ ...toReport(places, i), kind: 'tls', policies: '[]', rejected: 1 },
    // Behind what DMARC's lists have.
    ...{ account_seq: null, tls_account_seq: owner.seq, number: 4 * ITEMS + i },
  }));
  await insertAll(db, 'alert', numbers(ITEMS), (i) => toAlert(owner, i));
}

const COLUMNS = {
  domain_day: ['domain_id', 'day, belief, reports, messages, aligned, sources'],
  list_day: ['list_id', 'part, day, items'],
} as const;

/** Ten other domains get the rows of one. */
const OF_OTHERS = Object.entries(COLUMNS).map(
  ([table, [owner, columns]]) => `insert into ${table} (${owner}, ${columns})
    select domain.id, ${columns} from ${table}, domain where name like 'other-100_.example'
      and ${owner} = (select ${owner} from ${table} group by 1 order by count(*) desc limit 1)`,
);

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

/** Of a day's reports: the one that is asked for by its name, the same by the domain of its address, and two others. */
const REPORTERS = [
  { reporter: REPORTER, reporter_host: null },
  { reporter: 1, reporter_host: REPORTER },
  ...[2, 3].map((reporter) => ({ reporter, reporter_host: null })),
];

function toReport(places: { domain_seq: number; account_seq: number }, i: number) {
  const at = toInstant(i);
  return {
    ...{ id: randomUUID(), nonce: NONCE, document_seq: i },
    ...{ begin_date: at, end_date: at, received_at: at },
    ...{ reporter_org: 'Mailbox Provider', reporter_email: null, report_id: `report-${i}` },
    ...REPORTERS[i % OF_DAY],
    ...{ ...places, number: i, revision: 1 },
    ...{ record_count: 1, total_messages: 1, aligned_messages: 1, warnings: '[]' },
    ...{ dkim_aligned: 1, spf_aligned: 0, quarantined: 0, rejected: 0, otherwise: 0 },
    ...{ payload_sha256: randomBytes(32), content: randomBytes(400) },
  };
}

function toAlert(owner: Owner, i: number) {
  const fired_at = toInstant(i);
  return {
    ...{ id: randomUUID(), account_id: owner.accountId, domain_id: owner.domainId },
    ...{ type: TYPES[i % 4 === 0 ? 1 : 0], subject: `${i}`, context: '{}', fired_at },
    ...{ resolved_at: i % 100 === 0 ? null : fired_at },
    ...{ number: ITEMS + i, last_change: 2 * ITEMS + i },
  };
}

/** By few statements: a row for each would take longer than the test. */
async function insertAll<Item>(
  db: Db,
  table: keyof Tables,
  items: readonly Item[],
  toRow: (item: Item) => object,
): Promise<void> {
  await db.write(async (tx) => {
    for (let from = 0; from < items.length; from += 400) {
      const rows = items.slice(from, from + 400).map(toRow);
      await tx
        .insertInto(table)
        .values(rows as never)
        .execute();
    }
  });
}
