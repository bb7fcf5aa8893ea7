import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import { removeReport } from '../../src/store/reports/corrections.ts';
import { type Answer, type Api, serveApi, walk } from '../support/api.ts';
import {
  aDomain,
  anAccount,
  anAlert,
  aReport,
  NOW,
  receive,
  resolveAlert,
} from '../support/builders.ts';
import { caseCount } from '../support/counts.ts';
import { listMiscounts } from '../support/recount.ts';

/** After each step of a random history, each list with each filter is compared with the list without it. */
const HISTORIES = caseCount({ few: 2, full: 20, fullOnPostgres: 8 });

const NAMES = ['a.example', 'b.a.example', 'b.example'] as const;
const REPORTERS = [
  { orgName: 'Big Mail', email: 'dmarc@bigmail.example' },
  { orgName: 'bigmail.example', email: 'dmarc@BigMail.example' },
  { orgName: null, email: 'reports@small.example' },
  { orgName: 'Übermail', email: null },
  { orgName: null, email: null },
] as const;
const NOBODYS = 'f0000000-0000-4000-8000-00000000000f';
const DAYS = ['2026-03-10', '2026-03-11', '2026-03-12', '2026-03-13'] as const;
const TIMES = ['00:00:00', '12:30:00', '23:59:59'] as const;
const TYPES = ['alert.policy_weakened', 'alert.alignment_regression'] as const;
const CONTEXTS = {
  'alert.policy_weakened': {
    previous_policy: 'reject',
    current_policy: 'none',
    record_name: '_dmarc.a.example',
  },
  'alert.alignment_regression': { drop_pct: 31.4, prev_pass_rate: 98.74, curr_pass_rate: 67.34 },
} as const;

const which = fc.nat(2);
const day = fc.constantFrom(...DAYS);
const instant = fc.tuple(day, fc.constantFrom(...TIMES)).map(([on, at]) => `${on}T${at}Z`);
const reportStep = fc.record({
  kind: fc.constant('report' as const),
  which,
  begin: instant,
  reporter: fc.constantFrom(...REPORTERS),
});
const others = fc.oneof(
  fc.record({
    kind: fc.constant('fire' as const),
    which,
    firedAt: instant,
    type: fc.constantFrom(...TYPES),
  }),
  fc.record({ kind: fc.constant('resolve' as const), nth: fc.nat(9) }),
  fc.record({ kind: fc.constant('removeReport' as const), nth: fc.nat(9) }),
  fc.record({ kind: fc.constantFrom('pause' as const, 'resume' as const), which }),
  fc.record({ kind: fc.constant('again' as const), which }),
);
const step = fc.oneof({ weight: 2, arbitrary: reportStep }, { weight: 3, arbitrary: others });
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const someDays = fc.record(
  {
    from: day,
    until: day,
    reporter: fc.constantFrom('BIG MAIL', 'bigmail.example', 'small.example', 'übermail', 'nobody'),
  },
  { requiredKeys: [] },
);
const alertFilter = fc.record(
  {
    which,
    type: fc.constantFrom(...TYPES),
    state: fc.constantFrom('open', 'resolved'),
    fired_from: instant,
    fired_until: instant,
  },
  { requiredKeys: [] },
);
const domainFilter = fc.record(
  {
    name: fc.constantFrom('A.example', '*.a.example', '*.example', 'none.example', '*.b.example'),
    status: fc.constantFrom('active', 'paused', 'all'),
  },
  { requiredKeys: [] },
);
const filters = fc.record({
  ofDomain: fc.array(someDays, { minLength: 2, maxLength: 3 }),
  ofAccount: fc.array(fc.tuple(someDays, fc.option(which)), { minLength: 2, maxLength: 4 }),
  ofAlerts: fc.array(alertFilter, { minLength: 2, maxLength: 4 }),
  ofDomains: fc.array(domainFilter, { minLength: 2, maxLength: 3 }),
});

interface Item {
  readonly id: string;
  readonly domain_id: string;
  readonly reporter_org: string | null;
  readonly reporter_email: string | null;
  readonly begin_date: string;
  readonly type: string;
  readonly fired_at: string;
  readonly resolved_at: string | null;
  readonly domain: string;
  readonly status: string;
}
type Filter = Readonly<Record<string, string | undefined>>;

const isOf: Readonly<Record<string, (item: Item, value: string) => boolean>> = {
  domain_id: ({ domain_id }, id) => domain_id === id,
  from: ({ begin_date }, from) => begin_date.slice(0, 10) >= from,
  until: ({ begin_date }, until) => begin_date.slice(0, 10) <= until,
  reporter: ({ reporter_org, reporter_email }, name) =>
    [reporter_org, reporter_email?.split('@')[1]].some(
      (text) => text?.toLowerCase() === name.toLowerCase(),
    ),
  type: ({ type }, wanted) => type === wanted,
  state: ({ resolved_at }, state) => (resolved_at === null) === (state === 'open'),
  fired_from: ({ fired_at }, from) => fired_at >= from,
  fired_until: ({ fired_at }, until) => fired_at < until,
  name: ({ domain }, name) =>
    name.startsWith('*.') ? domain.endsWith(name.slice(1)) : domain === name.toLowerCase(),
  status: ({ status }, wanted) => wanted === 'all' || status === wanted,
};

function toQuery(filter: Filter): string {
  const set = Object.entries(filter).filter((entry): entry is [string, string] => !!entry[1]);
  return new URLSearchParams(set).toString();
}

/** What a filtered list was at a moment: a tag stands for one state of one list. */
interface Seen {
  readonly text: string;
  readonly removals: number;
}

class World {
  readonly api: Api;
  readonly account: Awaited<ReturnType<typeof anAccount>>;
  readonly domains: { id: string; name: string }[];
  readonly alerts: string[] = [];
  /** What each tag stood for, by list and filter and of all. */
  readonly byTag = new Map<string, string>();
  readonly last = new Map<string, Seen & { readonly tag: string }>();
  removals = 0;

  constructor(api: Api, account: World['account'], domains: World['domains']) {
    this.api = api;
    this.account = account;
    this.domains = domains;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.api.get(path, { key: this.account.key, headers });
  }

  async take(taken: Step): Promise<void> {
    if ('which' in taken) await this.change(taken);
    else await this.end(taken);
  }

  async change(taken: Extract<Step, { which: number }>): Promise<void> {
    const { db } = this.api;
    const { id: domainId, name } = this.domains[taken.which] as World['domains'][number];
    if (taken.kind === 'report')
      await receive(db, [aReport({ domain: name, begin: taken.begin, ...taken.reporter })]);
    if (taken.kind === 'fire') {
      const { type, firedAt } = taken;
      const owner = { accountId: this.account.id, domainId };
      this.alerts.push(await anAlert(db, owner, { type, firedAt, context: CONTEXTS[type] }));
    }
    if (taken.kind === 'pause') await updateDomainStatus(db, domainId, 'paused');
    if (taken.kind === 'resume') await updateDomainStatus(db, domainId, 'active');
    if (taken.kind !== 'again') return;
    this.removals += 1;
    await removeDomain(db, domainId);
    await aDomain(db, this.account.id, { name });
  }

  async end({ kind, nth }: Extract<Step, { nth: number }>): Promise<void> {
    const { db } = this.api;
    if (kind === 'resolve') {
      const id = this.alerts[nth % Math.max(1, this.alerts.length)];
      if (id !== undefined) await resolveAlert(db, id, '2026-03-14T00:00:00Z');
      return;
    }
    const reports = await db.selectFrom('report').select('id').orderBy('seq').execute();
    const id = reports[nth % Math.max(1, reports.length)]?.id;
    if (id === undefined) return;
    this.removals += 1;
    await removeReport(db, id, NOW);
  }

  /** The list with a filter is the list without it, filtered by hand, in pages; its tag says so. */
  async compare(path: string, filter: Filter, whole = ''): Promise<void> {
    const all = await this.read(path, whole);
    const wanted = all.items.filter((item) =>
      Object.entries(filter).every(([name, value]) => !value || isOf[name]?.(item, value)),
    );
    const found = await this.read(path, toQuery(filter));
    expect(found.items).toEqual(wanted);
    expect([...found.totals]).toEqual([wanted.length]);
    await this.holdTag(path, filter, wanted);
  }

  async read(path: string, query: string) {
    const read = (wanted: string) => this.get(`${path}${wanted}`);
    const { items, totals } = await walk(read, query === '' ? '' : `?${query}`, 3);
    return { items: items as Item[], totals };
  }

  /** A tag never stands for two states or two lists; it stays while nothing changes, but for removals and for domains. */
  async holdTag(path: string, filter: Filter, items: readonly Item[]): Promise<void> {
    const key = `${path}?${toQuery(filter)}`;
    const { headers } = await this.get(key);
    const tag = String(headers['etag']);
    const text = JSON.stringify(items);
    const state = `${toQuery({ ...filter, reporter: filter['reporter']?.toLowerCase() })} ${path} ${text}`;
    expect(this.byTag.get(tag) ?? state).toBe(state);
    this.byTag.set(tag, state);
    const former = this.last.get(key);
    const isSame = former?.text === text && former.removals === this.removals;
    if (isSame && !path.endsWith('/domains')) expect(tag).toBe(former.tag);
    this.last.set(key, { text, tag, removals: this.removals });
    const again = await this.get(key, { 'If-None-Match': tag });
    expect(again.status).toBe(304);
  }
}

async function aWorld(api: Api): Promise<World> {
  const account = await anAccount(api.db);
  const domains = [];
  for (const name of NAMES) domains.push(await aDomain(api.db, account.id, { name }));
  return new World(api, account, domains);
}

test('a filtered list is the whole list filtered by hand, whatever happens, and its tag stands for it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), filters, async (...of) => {
      const [steps, wanted] = of;
      const world = await aWorld(await serveApi());
      for (const taken of steps) {
        await world.take(taken);
        for (const list of listsOf(world, wanted)) await world.compare(...list);
      }
      expect(await listMiscounts(world.api.db)).toEqual({});
    }),
    { numRuns: HISTORIES, endOnFailure: true },
  );
}, 600_000);

type Filters = typeof filters extends fc.Arbitrary<infer F> ? F : never;
type List = Parameters<World['compare']>;

function listsOf(world: World, { ofDomain, ofAccount, ofAlerts, ofDomains }: Filters): List[] {
  const idOf = (which: number | null | undefined) => world.domains[which ?? 9]?.id;
  return [
    ...ofDomain.map((filter, i): List => [`/v1/external/domains/${idOf(i)}/reports`, filter]),
    ...ofAccount.map(
      ([filter, which]): List => ['/v1/external/reports', { ...filter, domain_id: idOf(which) }],
    ),
    ...ofAlerts.map(({ which, ...filter }): List => {
      return ['/v1/external/alerts', { ...filter, domain_id: idOf(which) }];
    }),
    ...ofDomains.map(({ name, status = 'active' }): List => {
      return ['/v1/external/domains', { name, status }, 'status=all'];
    }),
  ];
}

test.each([
  '/v1/external/domains/ID/reports?from=2026-03-10',
  '/v1/external/domains/ID/reports?reporter=big%20mail',
  '/v1/external/reports?until=2026-03-13',
  '/v1/external/reports?reporter=bigmail.example',
  '/v1/external/reports?domain_id=ID',
  '/v1/external/reports?domain_id=ID&from=2026-03-10&reporter=Big%20Mail',
])('%s: one report that takes the place of another gives another tag', async (path) => {
  const world = await aWorld(await serveApi());
  const [domain] = world.domains;
  const report = { kind: 'report', which: 0, begin: '2026-03-11T00:00:00Z' } as const;
  const [reporter] = REPORTERS;
  for (const _ of DAYS) await world.take({ ...report, reporter });
  const read = async () => {
    const { headers, body } = await world.get(path.replace('ID', String(domain?.id)));
    return [body.total, headers['etag']];
  };
  const tags = new Set();
  const [total] = await read();
  // The newest one, and an older one.
  for (const nth of [3, 1]) {
    tags.add((await read())[1]);
    await world.take({ kind: 'removeReport', nth });
    await world.take({ ...report, reporter });
  }
  const [after, tag] = await read();
  expect(after).toBe(total);
  expect(tags.add(tag).size).toBe(3);
});

describe('a filtered list that is followed', () => {
  const OF_REPORTS = ['from=2026-03-11', 'until=2026-03-11&from=2026-03-10', 'reporter=Big%20Mail'];
  const OF_ALERTS = [
    'type=alert.policy_weakened',
    'fired_from=2026-03-11T00:00:00Z',
    'state=resolved',
  ];

  test.each([
    ...OF_REPORTS.map(
      (query) => ['/v1/external/domains/ID/reports', query, 'received_after'] as const,
    ),
    ...OF_ALERTS.map((query) => ['/v1/external/alerts', query, 'changed_after'] as const),
  ])(
    '%s?%s has what its filter lets through of what came after the cursor',
    async (at, query, after) => {
      const world = await aWorld(await serveApi());
      const path = at.replace('ID', String(world.domains[0]?.id));
      const met: string[] = [];
      let cursor = 'start';
      const follow = async () => {
        for (let count = 1; count > 0; ) {
          const { body, headers } = await world.get(`${path}?${query}&${after}=${cursor}&limit=2`);
          cursor = String(headers['plumbline-cursor']);
          expect(cursor.length).toBeLessThanOrEqual(64);
          met.push(...body.data.map(({ id }: Item) => id));
          count = body.data.length;
        }
      };
      for (let i = 0; i < 12; i += 1) {
        await happen(world, i);
        if (i % 2 === 0) await follow();
      }
      await follow();
      const { items } = await world.read(path, query);
      expect(items.length).toBeGreaterThan(0);
      expect(new Set(met)).toEqual(new Set(items.map(({ id }) => id)));
      // An alert that resolves is met again where the filter goes on to let it through.
      if (after === 'received_after') expect(met).toHaveLength(items.length);
    },
  );

  async function happen(world: World, i: number): Promise<void> {
    const [day, reporter] = [DAYS[i % 4] as string, REPORTERS[i % 5] as (typeof REPORTERS)[0]];
    await world.take({ kind: 'report', which: i % 2, begin: `${day}T00:00:00Z`, reporter });
    const type = TYPES[i % 2] as (typeof TYPES)[0];
    await world.take({ kind: 'fire', which: i % 3, firedAt: `${day}T12:00:00Z`, type });
    if (i % 3 === 2) await world.take({ kind: 'resolve', nth: i - 1 });
  }

  test('a cursor of another filter is a 422', async () => {
    const world = await aWorld(await serveApi());
    const path = `/v1/external/domains/${world.domains[0]?.id}/reports?`;
    for (const [list, after, filter, other] of [
      [path, 'received_after', 'from=2026-03-10', 'from=2026-03-11'],
      [path, 'received_after', 'reporter=x', ''],
      ['/v1/external/alerts?', 'changed_after', 'state=open', 'state=resolved'],
      ['/v1/external/alerts?', 'changed_after', '', 'fired_until=2026-03-11T00:00:00Z'],
    ] as const) {
      const { headers } = await world.get(`${list}${filter}`);
      const follow = (query: string) =>
        world.get(`${list}${query}&${after}=${headers['plumbline-cursor']}`);
      expect((await follow(filter)).status).toBe(200);
      const { status, body } = await follow(other);
      expect([status, body.error.message]).toEqual([422, expect.stringContaining(`"${after}"`)]);
    }
  });
});

test.each<readonly [path: string, name: string, wanted: string]>([
  ['/v1/external/alerts?state=closed', 'state', 'one of open, resolved'],
  ['/v1/external/alerts?state=', 'state', 'one of open, resolved'],
  ['/v1/external/alerts?fired_from=2026-03-14', 'fired_from', 'a timestamp'],
  ['/v1/external/alerts?fired_from=2026-02-30T00:00:00Z', 'fired_from', 'a timestamp'],
  ['/v1/external/alerts?fired_until=2026-03-14T00:00:00', 'fired_until', 'a timestamp'],
  ['/v1/external/alerts?fired_until=x&fired_until=y', 'fired_until', 'a timestamp'],
  // The format that Ajv knows allows it; it was a 500.
  ['/v1/external/alerts?fired_from=2026-03-14T00:00:00%2B05', 'fired_from', 'a timestamp'],
  ['/v1/external/alerts?fired_until=2026-03-14T23:59:60-05', 'fired_until', 'a timestamp'],
  ['/v1/external/reports?from=2026-3-1', 'from', 'a day'],
  ['/v1/external/reports?until=2026-02-30', 'until', 'a day'],
  ['/v1/external/reports?reporter=', 'reporter', 'a name'],
  ['/v1/external/reports?domain_id=1', 'domain_id', 'a UUID'],
  ['/v1/external/domains?name=', 'name', 'a domain name'],
  ['/v1/external/domains?name=*', 'name', 'a domain name'],
  ['/v1/external/domains?name=*example.com', 'name', 'a domain name'],
  ['/v1/external/domains?name=a.*.com', 'name', 'a domain name'],
  ['/v1/external/domains?status=resolved', 'status', 'one of active, paused, all'],
  ['/v1/external/domains/ID/sources?failing=yes', 'failing', 'one of true'],
  ['/v1/external/domains/ID/sources?verdict=good', 'verdict', 'one of yours, needs_setup, '],
  ['/v1/external/domains/ID/sources?service=', 'service', 'a name'],
  ...[
    // It was as if nobody had asked for an address.
    '',
    'x',
    '192.0.2.0/33',
    '192.0.2.0/',
    '2001:db8::/129',
    '192.0.2',
    '192.0.2.0/24/1',
    'fe80::1%25a',
  ].map(
    (address) =>
      [`/v1/external/domains/ID/sources?address=${address}`, 'address', 'an IP address'] as const,
  ),
])('%s is a 422 that names %s and says what is allowed', async (path, name, wanted) => {
  const world = await aWorld(await serveApi());
  const { status, body } = await world.get(path.replace('ID', String(world.domains[0]?.id)));
  expect([status, body.error.code]).toEqual([422, 'validation_error']);
  expect(body.error.message).toContain(`"${name}" must be ${wanted}`);
});

test('a domain of another account is a 404 in the reports of the account, as one that nobody has', async () => {
  const api = await serveApi();
  const [world, other] = [await aWorld(api), await anAccount(api.db)];
  const { id } = await aDomain(api.db, other.id);
  const answers = [id, NOBODYS].map((one) => world.get(`/v1/external/reports?domain_id=${one}`));
  const [foreign, unknown] = await Promise.all(answers);
  expect([foreign?.status, foreign?.text]).toEqual([404, unknown?.text]);
});

test.each([
  ['2026-03-11T13:30:00%2B01:00', ['2026-03-11T12:30:00Z', '2026-03-12T00:00:00Z']],
  ['2026-03-11T12:30:00.001Z', ['2026-03-12T00:00:00Z']],
  ['2026-03-11T12:29:59.999z', ['2026-03-11T12:30:00Z', '2026-03-12T00:00:00Z']],
  ['0000-01-01T00:00:00Z', ['2026-03-11T12:30:00Z', '2026-03-12T00:00:00Z']],
  ['9999-12-31T23:59:59.9Z', []],
  ['2016-12-31T23:59:60Z', ['2026-03-11T12:30:00Z', '2026-03-12T00:00:00Z']],
])(
  'fired_from=%s has the alerts that fired then or later, fired_until the others',
  async (at, from) => {
    const world = await aWorld(await serveApi());
    const all = ['2026-03-11T12:30:00Z', '2026-03-12T00:00:00Z'];
    for (const firedAt of all)
      await world.take({ kind: 'fire', which: 0, firedAt, type: TYPES[0] });
    const read = async (name: string) => {
      const { body } = await world.get(`/v1/external/alerts?${name}=${at}`);
      return body.data.map(({ fired_at }: Item) => fired_at).sort();
    };
    expect(await read('fired_from')).toEqual(from);
    expect(await read('fired_until')).toEqual(all.filter((one) => !from.includes(one)));
  },
);
