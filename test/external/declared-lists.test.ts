import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { handlers } from '../../src/external/handlers.ts';
import type { Handlers } from '../../src/external/operation.ts';
import type { ALERT_FILTERS } from '../../src/store/alerts/alert-list.ts';
import { type DOMAIN_FILTERS, updateDomainStatus } from '../../src/store/domains/domains.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { DOMAIN_ID } from '../../src/store/lists/heads.ts';
import { removeReport } from '../../src/store/reports/corrections.ts';
import type { REPORT_FILTERS } from '../../src/store/reports/reports.ts';
import type { TLS_FILTERS } from '../../src/store/reports/tls-reports.ts';
import { type Answer, startApi } from '../support/api.ts';
import {
  aDomain,
  anAccount,
  anAlert,
  aReport,
  NOW,
  receive,
  resolveAlert,
} from '../support/builders.ts';
import { findOperation, operations } from '../support/contract-document.ts';
import { listMiscounts } from '../support/recount.ts';
import { aStore, storesOfHistories } from '../support/store.ts';
import { aReadPolicy, aReadTlsReport } from '../support/tls-report.ts';

/*
 * Every declared list with every subset of its filters, over random histories, equals a model that filters and sorts all rows
 * in JavaScript: pages, totals, links, what came after a cursor, and entity tags. A filter that has no line here does not compile.
 */

const GUIDE = readFileSync(new URL('../../openapi/guides/lists.md', import.meta.url), 'utf8');
const NAMES = ['a.example', 'b.a.example'] as const;
const TYPES = ['alert.alignment_regression', 'alert.policy_weakened'] as const;
const CONTEXTS = [
  { drop_pct: 31.4, prev_pass_rate: 98.74, curr_pass_rate: 67.34 },
  { previous_policy: 'reject', current_policy: 'none', record_name: '_dmarc.a.example' },
];
/** The host of an address may be an organisation's name, in other case; reports may have neither. */
const REPORTERS = [
  { orgName: 'Mailbox Provider', email: 'dmarc@provider.example' },
  { orgName: 'provider.example', email: 'dmarc@Provider.example' },
  { orgName: null, email: 'reports@small.example' },
  { orgName: 'Übermail', email: null },
  { orgName: null, email: null },
] as const;
const INSTANTS = ['2026-03-09T23:59:59Z', '2026-03-10T00:00:00Z', '2026-03-11T12:00:00Z'] as const;

const which = fc.nat(5);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('receive' as const), which, at: fc.nat(2) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('fire' as const), which, at: fc.nat(2) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'resolve' as const,
        'pause' as const,
        'resume' as const,
        'remove' as const,
        'again' as const,
      ),
      which,
      at: fc.nat(2),
    }),
  },
);

type Row = Readonly<Record<string, string | number | null>>;
type Value = string;
type Model = (row: Row, value: Value) => boolean;

/** The values that a filter is tried with, and the rows that one lets through. */
type FilterModel = readonly [values: readonly Value[], holds: Model];

const namesOf = ({ reporter_org: org, reporter_email: email }: Row) =>
  [org, `${email}`.split('@')[1]].map((name) => `${name ?? ''}`.toLowerCase());

const REPORT_MODEL: Record<keyof typeof REPORT_FILTERS, FilterModel> = {
  from: [['2026-03-10'], (row, day) => `${row['begin_date']}` >= day],
  until: [['2026-03-10'], (row, day) => `${row['begin_date']}`.slice(0, 10) <= day],
  reporter: [
    ['mailbox PROVIDER', 'provider.example', 'small.example', 'übermail', 'nobody.example'],
    (row, name) => namesOf(row).includes(name.toLowerCase()),
  ],
};

const ALERT_MODEL: Record<
  Exclude<keyof typeof ALERT_FILTERS, 'from' | 'until'> | 'fired_from' | 'fired_until',
  FilterModel
> = {
  type: [TYPES, (row, type) => row['type'] === type],
  state: [
    ['open', 'resolved'],
    (row, state) => (row['resolved_at'] === null) === (state === 'open'),
  ],
  fired_from: [[INSTANTS[1]], (row, at) => `${row['fired_at']}` >= at],
  fired_until: [[INSTANTS[1], INSTANTS[2]], (row, at) => `${row['fired_at']}` < at],
};

const TLS_MODEL: Record<keyof typeof TLS_FILTERS, FilterModel> = {
  ...REPORT_MODEL,
  failing: [['true'], (row) => Number(row['total_messages']) > Number(row['aligned_messages'])],
};

const DOMAIN_MODEL: Record<keyof typeof DOMAIN_FILTERS, FilterModel> = {
  name: [
    ['a.example', '*.a.example', '*.example', 'none.example'],
    (row, name) =>
      name.startsWith('*.') ? `${row['name']}`.endsWith(name.slice(1)) : row['name'] === name,
  ],
  status: [
    ['paused', 'all', 'active'],
    (row, status) => status === 'all' || row['status'] === status,
  ],
};

interface ListModel {
  readonly path: string;
  /** All rows of the list, in its order. */
  readonly rows: readonly Row[];
  readonly filters: Readonly<Record<string, FilterModel>>;
  /** The parameter of its cursors, and the column in whose order it is followed. */
  readonly followed?: readonly [parameter: string, key: string];
}

async function readModel({ db }: Store, accountId: string): Promise<ListModel[]> {
  const domains = (await db
    .selectFrom('domain')
    .selectAll()
    .orderBy('name')
    .execute()) as unknown as Row[];
  const withDomain = db.selectFrom('report').selectAll().select(DOMAIN_ID.as('domain_id'));
  const stored = (await withDomain.execute()) as unknown as Row[];
  const reports = stored.filter(({ kind }) => kind === null);
  const tls = stored.filter(({ kind }) => kind === 'tls');
  const alerts = (await db.selectFrom('alert').selectAll().execute()) as unknown as Row[];
  const ofDomain = (rows: readonly Row[], id: unknown) =>
    rows.filter((row) => row['domain_id'] === id);
  const active = domains.filter(({ status }) => status === 'active');
  const isActive = (row: Row) => active.some(({ id }) => id === row['domain_id']);
  const domainId: FilterModel = [
    domains.map(({ id }) => `${id}`),
    (row, id) => row['domain_id'] === id,
  ];
  const latest = (rows: readonly Row[], by: string) =>
    rows.toSorted((a, b) => compare(b[by], a[by]) || Number(b['seq']) - Number(a['seq']));
  const received = ['received_after', 'seq'] as const;
  expect(domains.every(({ account_id }) => account_id === accountId)).toBe(true);
  return [
    ...domains.map(({ id }) => ({
      path: `/v1/external/domains/${id}/reports`,
      rows: latest(ofDomain(reports, id), 'begin_date'),
      filters: REPORT_MODEL,
      followed: received,
    })),
    ...domains.map(({ id }) => ({
      path: `/v1/external/domains/${id}/tls-reports`,
      rows: latest(ofDomain(tls, id), 'begin_date'),
      filters: TLS_MODEL,
      followed: received,
    })),
    {
      path: '/v1/external/reports',
      rows: latest(reports.filter(isActive), 'begin_date'),
      filters: { ...REPORT_MODEL, domain_id: domainId },
    },
    {
      path: '/v1/external/alerts',
      rows: latest(alerts, 'fired_at'),
      filters: { ...ALERT_MODEL, domain_id: domainId },
      followed: ['changed_after', 'number'],
    },
    { path: '/v1/external/domains', rows: domains, filters: DOMAIN_MODEL },
  ];
}

const compare = (a: unknown, b: unknown) => (`${a}` < `${b}` ? -1 : `${a}` > `${b}` ? 1 : 0);

type Wanted = Readonly<Record<string, Value>>;

/** Every subset of the filters; the number chooses their values. */
function listSubsets(filters: ListModel['filters'], n: number): Wanted[] {
  const subsets: Wanted[] = [{}];
  for (const [name, [values]] of Object.entries(filters))
    for (const [i, one] of [...subsets].entries())
      subsets.push({ ...one, [name]: values[(n + i) % values.length] as Value });
  return subsets;
}

/** What a client has of a list with filters: its last answer, and a cursor with its place. */
interface Seen {
  readonly tag: string;
  readonly shown: string;
}

/** Where a client is in a list, and how much had been removed when it was given the cursor. */
interface Place {
  readonly cursor: string;
  readonly key: number;
  readonly removals: number;
}

const START: Place = { cursor: 'start', key: 0, removals: 0 };

class Clients {
  readonly #store: Store;
  readonly #ask: (path: string, headers?: object) => Promise<Answer>;
  readonly #accountId: string;
  readonly #seen = new Map<string, Seen>();
  readonly #cursors = new Map<string, Place>();
  removals = 0;

  constructor(
    store: Store,
    accountId: string,
    ask: (path: string, headers?: object) => Promise<Answer>,
  ) {
    this.#store = store;
    this.#accountId = accountId;
    this.#ask = ask;
  }

  async hold(n: number): Promise<void> {
    for (const list of await readModel(this.#store, this.#accountId))
      for (const wanted of listSubsets(list.filters, n)) await this.#holdList(list, wanted, n);
  }

  async #holdList(list: ListModel, wanted: Wanted, n: number): Promise<void> {
    const { path, filters } = list;
    // The list of domains has the active ones where nothing is said.
    const asked = filters === DOMAIN_MODEL ? { status: 'active', ...wanted } : wanted;
    const rows = list.rows.filter((row) =>
      Object.entries(asked).every(([name, value]) => filters[name]?.[1](row, value)),
    );
    const url = `${path}?${new URLSearchParams(wanted)}`;
    const offset = rows.length === 0 ? 1 : n % rows.length;
    await this.#holdPage(`${url}&limit=200`, rows, {
      total: rows.length,
      isFiltered: isSet(wanted),
    });
    const some = await this.#ask(`${url}&limit=2&offset=${offset}`);
    expect(idsOf(some), url).toEqual(rows.slice(offset, offset + 2).map(({ id }) => id));
    expect(some.body.total, url).toBe(rows.length);
    expect('link' in some.headers, url).toBe(offset + 2 < rows.length);
    if (list.followed !== undefined) await this.#follow(list, { url, rows });
  }

  /** A tag is that of one answer; of a filtered list it is another one only for another answer. */
  async #holdPage(
    url: string,
    rows: readonly Row[],
    { total, isFiltered }: { readonly total: number; readonly isFiltered: boolean },
  ): Promise<void> {
    const { body, headers } = await this.#ask(url);
    expect([body.total, idsOf({ body })], url).toEqual([total, rows.map(({ id }) => id)]);
    const [tag, shown] = [`${headers['etag']}`, JSON.stringify(body)];
    const former = this.#seen.get(url);
    if (tag === former?.tag) expect(shown, url).toBe(former.shown);
    else if (isFiltered) expect(shown, url).not.toBe(former?.shown);
    this.#seen.set(url, { tag, shown });
    expect((await this.#ask(url, { 'if-none-match': tag })).status, url).toBe(304);
  }

  /** What came after the cursor of the last time, in parts; a removal may have expired it. */
  async #follow({ followed }: ListModel, { url, rows }: Pick<ListModel, 'rows'> & { url: string }) {
    const [parameter, key] = followed ?? ['', ''];
    const { cursor, key: place, removals } = this.#cursors.get(url) ?? START;
    const keyOf = (row: Row) => Number(row[key]);
    const came = rows.filter((row) => keyOf(row) > place).toSorted((a, b) => keyOf(a) - keyOf(b));
    const answer = await this.#ask(`${url}&limit=2&${parameter}=${cursor}`);
    if (answer.status === 410) {
      expect(removals, url).toBeLessThan(this.removals);
      this.#cursors.delete(url);
      return;
    }
    expect([answer.body.total, idsOf(answer)], url).toEqual([
      came.length,
      came.slice(0, 2).map(({ id }) => id),
    ]);
    const headers = { 'if-none-match': answer.headers['etag'] };
    const again = await this.#ask(`${url}&limit=2&${parameter}=${cursor}`, headers);
    expect(again.status, url).toBe(304);
    const last = came[1] ?? came[0];
    this.#cursors.set(url, {
      cursor: `${answer.headers['plumbline-cursor']}`,
      key: last === undefined ? place : keyOf(last),
      removals: answer.body.total > 0 || cursor === 'start' ? this.removals : removals,
    });
  }
}

const isSet = (wanted: Wanted) => Object.values(wanted).some((value) => value !== 'active');

const idsOf = ({ body }: Pick<Answer, 'body'>): string[] =>
  body.data.map(({ id }: { readonly id: string }) => id);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function take({ db }: Store, accountId: string, { kind, which, at }: Step): Promise<void> {
  const domains = await db.selectFrom('domain').select(['id', 'name']).orderBy('name').execute();
  const { id: domainId, name: domain } = domains[
    which % domains.length
  ] as (typeof domains)[number];
  const [begin, i] = [INSTANTS[at] as string, which % TYPES.length];
  const reporters = [REPORTERS[which % 5], REPORTERS[at]];
  const find = async (table: 'report' | 'alert') => {
    const some = await db.selectFrom(table).select('id').orderBy('id').execute();
    return some[which % Math.max(1, some.length)]?.id;
  };
  const alert = { type: `${TYPES[i]}`, context: CONTEXTS[i] ?? {}, firedAt: begin };
  const steps: Readonly<Record<Step['kind'], () => Promise<unknown>>> = {
    receive: () =>
      receive(db, [
        ...reporters.map((reporter) => aReport({ domain, begin, ...reporter })),
        aReadTlsReport({
          ...{ domain, begin, reportId: `${which % 2}`, ...REPORTERS[which % 4] },
          policies: [aReadPolicy({ failures: which % 2 })],
        }),
      ]),
    fire: () => anAlert(db, { accountId, domainId }, alert),
    pause: () => updateDomainStatus(db, domainId, 'paused'),
    resume: () => updateDomainStatus(db, domainId, 'active'),
    resolve: async () => {
      const id = await find('alert');
      if (id !== undefined) await resolveAlert(db, id, NOW);
    },
    remove: async () => {
      const id = await find('report');
      if (id !== undefined) await removeReport(db, id, NOW);
    },
    again: async () => {
      await removeDomain(db, domainId);
      await aDomain(db, accountId, { name: domain });
    },
  };
  await steps[kind]();
}

test('every list of the contract has a model with each of its parameters, its description and the guide name them', async () => {
  const store = await aStore();
  const { id: accountId } = await anAccount(store.db);
  await aDomain(store.db, accountId);
  const models = new Map(
    (await readModel(store, accountId)).map(({ path, filters, followed = [] }) => [
      findOperation(path)?.operationId,
      [...Object.keys(filters), ...followed.slice(0, 1)].sort(),
    ]),
  );
  for (const { operationId, description, parameters } of operations) {
    const handle = handlers[operationId as keyof Handlers] as (
      ...given: readonly object[]
    ) => object;
    const page = { limit: 1, offset: 0 };
    const request = handle({ accountId, path: {}, query: page }, { now: () => new Date(NOW) });
    if (!('list' in request)) continue;
    const inQuery = parameters.filter((one) => one.in === 'query' && !(one.name in page));
    const names = inQuery.map(({ name }) => name).sort();
    expect(models.get(operationId), operationId).toEqual(names);
    for (const text of [description, GUIDE])
      expect(
        names.filter((name) => !text.includes(`\`${name}`)),
        operationId,
      ).toEqual([]);
  }
});

test.each(storesOfHistories({ few: [1, 1, 1], full: [3, 1, 3] }))(
  '$where: every list with every subset of its filters equals the model',
  async ({ open, count: numRuns }) => {
    const history = fc.array(step, { minLength: 4, maxLength: 8, size: 'max' });
    const run = async (steps: readonly Step[]) => {
      const store = await open();
      const api = await startApi({ store });
      try {
        const { id: accountId, key } = await anAccount(store.db);
        for (const name of NAMES) await aDomain(store.db, accountId, { name });
        const ask = (path: string, headers = {}) => api.get(path, { key, headers });
        const clients = new Clients(store, accountId, ask);
        for (const [n, taken] of steps.entries()) {
          await take(store, accountId, taken);
          if (taken.kind === 'remove' || taken.kind === 'again') clients.removals += 1;
          await clients.hold(n + taken.which);
        }
        expect(await listMiscounts(store.db)).toEqual({});
      } finally {
        await api.close();
      }
    };
    await fc.assert(fc.asyncProperty(history, run), { numRuns, seed: 51, endOnFailure: true });
  },
  1_800_000,
);
