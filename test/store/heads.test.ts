import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { AggregateReport } from '../../src/domain/reports/aggregate-report.ts';
import { BELIEF } from '../../src/store/days/belief.ts';
import { insertDomain, updateDomainStatus } from '../../src/store/domains/domains.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { DOMAIN_ID } from '../../src/store/lists/heads.ts';
import { aBareAccount, anAlert, aReport, receive, resolveAlert } from '../support/builders.ts';
import { holdPages } from '../support/pages.ts';
import { storesOfHistories } from '../support/store.ts';

/*
 * After any sequence of changes: every total is the COUNT(*) of its list, every day is the sum of its
 * reports, and a version changes when, and only when, the list does.
 */

const NAMES = ['a.example', 'b.example', 'c.example'];
const DAYS = ['2025-12-31', '2026-01-01', '2026-01-31', '2026-02-28', '2026-03-01'];
const instant = fc
  .tuple(fc.constantFrom(...DAYS), fc.constantFrom('00:00:00', '12:30:00', '23:59:59'))
  .map(([day, time]) => `${day}T${time}Z`);

/** Few report ids and payloads, so that duplicates and conflicts occur. */
const report = fc
  .record({
    domain: fc.constantFrom(...NAMES),
    reportId: fc.nat(5).map(String),
    payload: fc.constantFrom('one', 'one', 'two'),
    begin: instant,
    totalMessages: fc.nat(1_000),
    alignedMessages: fc.nat(10),
  })
  .map(aReport);

type Step =
  | { readonly kind: 'receive'; readonly reports: AggregateReport[]; readonly at: string }
  | { readonly kind: 'claim' | 'pause' | 'resume' | 'remove' | 'resolve'; readonly which: number }
  | { readonly kind: 'fire'; readonly which: number; readonly at: string };

const which = fc.nat(5);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('receive' as const),
    reports: fc.array(report, { maxLength: 8 }),
    at: instant,
  }),
  fc.record({ kind: fc.constantFrom('claim', 'pause', 'resume', 'remove', 'resolve'), which }),
  fc.record({ kind: fc.constant('fire' as const), which, at: instant }),
);

class World {
  readonly #db: Store['db'];
  readonly #accountIds: readonly string[];

  constructor(db: Store['db'], accountIds: readonly string[]) {
    this.#db = db;
    this.#accountIds = accountIds;
  }

  /** Takes a step. A step that is rejected (a name that is taken) changes nothing. */
  async take(taken: Step): Promise<void> {
    if (taken.kind === 'receive') return void (await receive(this.#db, taken.reports, taken.at));
    if (taken.kind === 'claim') return await this.#claim(taken.which);
    if (taken.kind === 'resolve') return await this.#resolve(taken.which);
    const domain = await this.#claimedDomain(taken.which);
    if (domain === undefined) return;
    if (taken.kind === 'fire') {
      const owner = { accountId: domain.account_id as string, domainId: domain.id };
      return void (await anAlert(this.#db, owner, { firedAt: taken.at }));
    }
    if (taken.kind === 'remove') return void (await removeDomain(this.#db, domain.id));
    await updateDomainStatus(this.#db, domain.id, taken.kind === 'pause' ? 'paused' : 'active');
  }

  async #claim(i: number): Promise<void> {
    const accountId = this.#accountIds[i % 2] as string;
    const name = NAMES[i % 3] as string;
    await insertDomain(this.#db, { accountId, name, now: '2026-03-15T00:00:00Z' }).catch(
      (error: { code: string }) => expect(error.code).toBe('conflict'),
    );
  }

  async #resolve(i: number): Promise<void> {
    const alerts = await this.#db.selectFrom('alert').select('id').orderBy('seq').execute();
    const alert = alerts[i % Math.max(1, alerts.length)];
    if (alert !== undefined) await resolveAlert(this.#db, alert.id, `2026-03-16T00:00:0${i}Z`);
  }

  async #claimedDomain(i: number) {
    const domains = await this.#db
      .selectFrom('domain')
      .select(['id', 'account_id'])
      .where('account_id', 'is not', null)
      .orderBy('name')
      .execute();
    return domains[i % Math.max(1, domains.length)];
  }
}

interface List {
  readonly list: string;
  /** Of a domain's list, its account; null when it has none. */
  readonly account: string | null;
  readonly total: number;
  readonly version: string;
  readonly items: number;
  /** All listed rows, as text. */
  readonly shown: string;
}

/** Every list: the values of its head, and those computed from the rows. */
async function readLists(db: Store['db']): Promise<List[]> {
  const lists = sql<List>`
    select 'domains ' || a.id as list, a.id as account, domains_total as total, domains_version as version,
      (select count(*) from domain where account_id = a.id and status = 'active') as items,
      (select string_agg(d.id || coalesce(cast(d.last_report_at as text), '-'), ',' order by d.id) from domain d
        where account_id = a.id and status = 'active') as shown from account a
    union all select 'alerts ' || a.id, a.id, alerts_total, alerts_version,
      (select count(*) from alert where account_id = a.id),
      (select string_agg(id || coalesce(cast(resolved_at as text), '-'), ',' order by id) from alert
        where account_id = a.id)
      from account a
    union all select 'alerts ' || d.id, account_id, alerts_total, alerts_version,
      (select count(*) from alert where domain_id = d.id),
      (select string_agg(id || coalesce(cast(resolved_at as text), '-'), ',' order by id) from alert
        where domain_id = d.id)
      from domain d
    union all select 'reports ' || a.id, a.id, reports_total, reports_version,
      (select count(*) from report where domain_seq in (
        select seq from domain where account_id = a.id and status = 'active')),
      (select string_agg(cast(id as text) || seq, ',' order by id) from report where domain_seq in (
        select seq from domain where account_id = a.id and status = 'active'))
      from account a
    union all select 'reports ' || d.id, account_id, reports_total, reports_version,
      (select count(*) from report where domain_seq = d.seq),
      (select string_agg(cast(id as text), ',' order by id) from report where domain_seq = d.seq) from domain d
  `;
  return (await db.write((tx) => lists.execute(tx))).rows;
}

function holdHeads(before: readonly List[], after: readonly List[], taken: Step): void {
  const known = new Map(before.map((list) => [list.list, list]));
  for (const { list, account, total, items, version, shown } of after) {
    expect(total, `total of ${list}`).toBe(items);
    const past = known.get(list);
    if (past === undefined) continue;
    // The lists of a domain that its account loses begin anew: their cursors are no longer good.
    const isChanged = shown !== past.shown || (past.account !== null && account === null);
    expect(version !== past.version, `version of ${list} after ${taken.kind}`).toBe(isChanged);
  }
  expect(new Set(after.map(({ version }) => version)).size).toBe(after.length);
}

/** The id of a list (store/lists/timeline.ts). */
const listOf = (kind: 'a' | 'b', owner: string) => {
  const id = sql`cast(${sql.ref(owner)} as text)`;
  return sql`substr(${id}, 1, 14) || ${sql.lit(kind)} || substr(${id}, 16)`;
};

/** Counts that differ from the counted rows: there must be none. */
async function holdCounts(db: Store['db']): Promise<void> {
  const listed = sql`select ${listOf('a', 'domain_id')} as list_id, fired_at as at from alert
    union all select ${listOf('a', 'account_id')}, fired_at from alert
    union all select ${listOf('b', 'account_id')}, begin_date from report
      join domain on domain.seq = domain_seq and account_id is not null and status = 'active'`;
  const pairs = [
    [
      sql`select domain_id, day, belief, reports, messages, aligned from domain_day`,
      sql`select ${DOMAIN_ID}, date(begin_date), ${BELIEF}, count(*), sum(total_messages),
        sum(aligned_messages) from report group by 1, 2, 3`,
    ],
    [
      sql`select cast(list_id as text), day, items from list_day`,
      sql`select list_id, date(at), count(*) from (${listed}) as listed group by 1, 2`,
    ],
  ] as const;
  for (const [counted, wanted] of pairs) {
    expect((await db.write((tx) => sql`${counted} except ${wanted}`.execute(tx))).rows).toEqual([]);
    expect((await db.write((tx) => sql`${wanted} except ${counted}`.execute(tx))).rows).toEqual([]);
  }
}

test.each(storesOfHistories({ few: [20, 4, 4], full: [40, 8, 20] }))(
  '$where: heads, days and pages are correct after any sequence of changes',
  async ({ open, count: numRuns }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25, size: 'max' }), async (steps) => {
        const store = await open();
        const { db } = store;
        try {
          const world = new World(db, [await aBareAccount(db), await aBareAccount(db)]);
          let before = await readLists(db);
          for (const taken of steps) {
            await world.take(taken);
            const after = await readLists(db);
            holdHeads(before, after, taken);
            before = after;
          }
          await holdCounts(db);
          await holdPages(store);
        } finally {
          await store.close();
        }
      }),
      { numRuns },
    );
  },
  120_000,
);
