import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { addDays } from '../../src/domain/instant.ts';
import { domainsOf } from '../../src/store/accounts/domains.ts';
import { alertsOf } from '../../src/store/alerts/alert-list.ts';
import type { Db } from '../../src/store/engine/database.ts';
import type { BoundQuery } from '../../src/store/engine/prepared.ts';
import type { Reader } from '../../src/store/engine/reader.ts';
import {
  type FollowedHead,
  type FollowedList,
  findFollowedHead,
  readFollowedPage,
} from '../../src/store/lists/followed.ts';
import { type Head, newVersion } from '../../src/store/lists/heads.ts';
import { findHead, type PagedList, readCurrentPage } from '../../src/store/lists/page.ts';
import { accountReportList, alertList } from '../../src/store/lists/timeline.ts';
import { reportsOfAccount } from '../../src/store/reports/account-reports.ts';
import { reportsOf } from '../../src/store/reports/reports.ts';
import type { Tables } from '../../src/store/tables.ts';
import { aBareAccount, aDomain, NOW } from '../support/builders.ts';
import { explain, record } from '../support/plans.ts';
import { aStore, IS_POSTGRES } from '../support/store.ts';

const DAYS = Array.from({ length: 300 }, (_, i) => addDays('2025-01-01', i));
const OF_DAY = 4;
const ITEMS = DAYS.length * OF_DAY;
/** Of the domains, so many belong to the account. */
const [DOMAINS, OWN] = [2_000, 400];
const NONCE = 'AAAAAAAA';
const POINT = { position: 600, nonce: NONCE };
/** Those that get more rows with what comes in. */
const GROWING =
  /(?:Seq Scan on|SCAN) (?:report|alert|domain|domain_day|list_day|list_point|list_gap|account_arrival)\b/;
const SORT = /(?:^|-> +)(?:Incremental )?Sort|TEMP B-TREE/;
/** The domain's days are few, and are read from their key. */
const OF_DAYS = /domain_day/;
/** Of an account's list PostgreSQL sorts the reports of one row of arrivals, a thousand at most. */
const OF_ONE_ARRIVAL = /Presorted Key: a\."position"/;

test('every query of a page reads an index, and nothing sorts a list', async () => {
  const { db, reader } = await aStore();
  const scope = await fill(db);
  const asked: BoundQuery<unknown>[] = [];
  await readPages(record(reader, asked), scope);
  const plans = await db.write(async (tx) => {
    if (IS_POSTGRES) await sql`analyze`.execute(tx);
    const found: string[] = [];
    for (const isGeneric of IS_POSTGRES ? [false, true] : [false])
      for (const query of asked) found.push((await explain(tx, query, { isGeneric })).join('\n'));
    return found;
  });
  const isSlow = (plan: string) =>
    GROWING.test(plan) || (SORT.test(plan) && !OF_DAYS.test(plan) && !OF_ONE_ARRIVAL.test(plan));
  expect(asked.length).toBeGreaterThan(40);
  expect(plans.filter(isSlow)).toEqual([]);
});

type Scope = Awaited<ReturnType<typeof fill>>;

async function readPages(reader: Reader, scope: Scope): Promise<void> {
  const ofAccount = { accountId: scope.accountId, domainId: undefined };
  const followed: FollowedList<unknown>[] = [
    reportsOf(scope),
    alertsOf(scope),
    alertsOf(ofAccount),
    reportsOfAccount(scope.accountId),
  ];
  for (const list of [...followed, domainsOf(scope.accountId)] as PagedList<unknown>[])
    for (const offset of [0, 100]) {
      const head = (await findHead(reader, list)) as Head;
      const { items } = await readCurrentPage(reader, list, { page: { limit: 50, offset }, head });
      expect(items).toHaveLength(50);
    }
  for (const list of followed)
    for (const start of ['start', { ...POINT, generation: 0, newest: POINT }] as const)
      for (const offset of [0, 200]) {
        const head = (await findFollowedHead(reader, list, start)) as FollowedHead;
        const page = { limit: 50, offset };
        const read = await readFollowedPage(reader, list, { start, page, head });
        expect(read).toMatchObject({ items: { length: 50 } });
      }
}

/** A domain with reports and alerts, among others. */
async function fill(db: Db) {
  const accountId = await aBareAccount(db);
  const { id: domainId } = await aDomain(db, accountId);
  const scope = { accountId, domainId };
  await insertAll(db, 'domain', numbers(DOMAINS), (i) => ({
    ...{ id: randomUUID(), name: `other-${i}.example`, status: 'active', created_at: NOW },
    account_id: i <= OWN ? accountId : null,
    ...{ reports_version: newVersion(), reports_nonce: NONCE },
    ...{ alerts_version: newVersion(), alerts_nonce: NONCE },
  }));
  const counts = { reports: OF_DAY, messages: 1, aligned: 1, sources: randomBytes(300) };
  await insertAll(db, 'domain_day', DAYS, (day) => ({ domain_id: domainId, day, ...counts }));
  for (const list_id of [alertList(domainId), alertList(accountId)]) {
    await insertAll(db, 'list_day', DAYS, (day) => ({ list_id, day, items: OF_DAY }));
    await insertAll(db, 'list_point', numbers(ITEMS), (i) => ({
      ...{ list_id, position: 2 * i, nonce: NONCE },
    }));
    await insertAll(db, 'list_gap', numbers(ITEMS), (i) => ({
      ...{ list_id, position: 2 * i - 1, nonce: i },
    }));
  }
  await insertAll(db, 'report', numbers(ITEMS), (i) => toReport(domainId, i));
  await insertAll(db, 'list_day', DAYS, (day) => ({
    ...{ list_id: accountReportList(accountId), day, items: OF_DAY },
  }));
  await insertAll(db, 'account_arrival', numbers(ITEMS), (i) => ({
    ...{ account_seq: 1, domain_seq: 1, length: 1, nonce: NONCE },
    ...{ position: i, domain_position: i },
  }));
  await insertAll(db, 'alert', numbers(ITEMS), (i) => toAlert(scope, i));
  await db.write(async (tx) => {
    const alerts = { alerts_total: ITEMS, alerts_position: 2 * ITEMS, alerts_nonce: NONCE };
    const reports = { reports_total: ITEMS, reports_position: ITEMS, reports_nonce: NONCE };
    const domain = tx.updateTable('domain').set({ ...alerts, ...reports });
    await domain.where('id', '=', domainId).execute();
    const account = { ...alerts, ...reports, domains_total: OWN + 1 };
    await tx.updateTable('account').set(account).execute();
    for (const rows of OF_OTHERS) await sql.raw(rows).execute(tx);
  });
  return scope;
}

const COLUMNS = {
  domain_day: ['domain_id', 'day, reports, messages, aligned, sources'],
  list_day: ['list_id', 'day, items'],
  list_point: ['list_id', 'position, nonce'],
  list_gap: ['list_id', 'position, nonce'],
} as const;

/** Ten other domains get the rows of one. */
const OF_OTHERS = Object.entries(COLUMNS).map(
  ([table, [owner, columns]]) => `insert into ${table} (${owner}, ${columns})
    select domain.id, ${columns} from ${table}, domain where name like 'other-100_.example'
      and ${owner} = (select ${owner} from ${table} group by 1 order by count(*) desc limit 1)`,
);

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

const toInstant = (i: number) => `${DAYS[Math.floor((i - 1) / OF_DAY)]}T00:00:00Z`;

function toReport(domain_id: string, i: number) {
  const at = toInstant(i);
  return {
    ...{ id: randomUUID(), domain_id, position: i, nonce: NONCE, document_seq: i },
    ...{ begin_date: at, end_date: at, received_at: at },
    ...{ reporter_org: 'Mailbox Provider', reporter_email: null, report_id: `report-${i}` },
    account_seq: 1,
    ...{ record_count: 1, total_messages: 1, aligned_messages: 1, warnings: '[]' },
    ...{ payload_sha256: randomBytes(32), content: randomBytes(400) },
  };
}

function toAlert(owner: { accountId: string; domainId: string }, i: number) {
  const fired_at = toInstant(i);
  return {
    ...{ id: randomUUID(), account_id: owner.accountId, domain_id: owner.domainId },
    ...{ type: 'alert.policy_weakened', subject: `${i}`, context: '{}', fired_at },
    ...{ resolved_at: i % 100 === 0 ? null : fired_at },
    ...{ account_position: 2 * i, domain_position: 2 * i },
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
