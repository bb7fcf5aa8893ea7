import { describe, expect, test } from 'vitest';
import { addDays } from '../../src/domain/instant.ts';
import type { TlsReport } from '../../src/domain/reports/tls-report.ts';
import { planTlsDays, type TlsDaysQuery } from '../../src/store/days/tls-days.ts';
import type { BoundQuery } from '../../src/store/engine/prepared.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { pruneReports } from '../../src/store/reports/aging/old-reports.ts';
import { removeReport } from '../../src/store/reports/corrections.ts';
import { aBareAccount, aDomain, aReport, NOW, receive } from '../support/builders.ts';
import { IS_CITUS } from '../support/citus-databases.ts';
import { explainOfMany, record } from '../support/plans.ts';
import { aStore } from '../support/store.ts';
import { aReadFailure, aReadPolicy, aReadTlsReport } from '../support/tls-report.ts';

const RANGE = { from: '2026-03-01', to: '2026-03-15' };
const GOOGLE = { authenticated: 'google.com' };

async function aStoreWithDomain() {
  const store = await aStore();
  const { id: domainId } = await aDomain(store.db, await aBareAccount(store.db), {
    name: 'example.com',
  });
  return { store, domainId };
}

const read = ({ reader }: Store, query: Partial<TlsDaysQuery> & { domainId: string }) =>
  reader.readPlan(() => planTlsDays({ ...RANGE, ...query }));

async function findVersion({ db }: Store, domainId: string) {
  const domain = db.selectFrom('domain').select('tls_version').where('id', '=', domainId);
  return (await domain.executeTakeFirstOrThrow()).tls_version;
}

let count = 0;
const aTold = (wanted: Parameters<typeof aReadTlsReport>[0]): TlsReport => {
  count += 1;
  return aReadTlsReport({ reportId: `${count}`, ...wanted });
};

test('types of policies and modes are days of their own, with who reports and why sessions failed', async () => {
  const { store, domainId } = await aStoreWithDomain();
  const details = [
    aReadFailure({ sessions: 2, reasonCode: 'CERT_HAS_EXPIRED' }),
    aReadFailure({ sessions: 3 }),
    aReadFailure({ sessions: 1, mxHost: 'mx2.example.com', resultType: 'validation-failure' }),
  ];
  const sts = aReadPolicy({ successes: 10, failures: 4, details });
  const dane = aReadPolicy({ type: 'tlsa', mode: null, successes: 14 });
  await receive(store.db, [
    aTold({ orgName: 'Provider One', policies: [sts, dane] }),
    aTold({ orgName: 'Provider Two', policies: [aReadPolicy({ successes: 5 })] }),
    aTold({ orgName: 'provider two', policies: [aReadPolicy({ successes: 1, failures: 1 })] }),
    aTold({ begin: '2026-03-11T00:00:00Z', policies: [aReadPolicy({ mode: 'enforce' })] }),
    aTold({ begin: '2026-03-16T00:00:00Z' }),
    aTold({ begin: '2026-02-28T23:59:59Z' }),
  ]);
  const days = await read(store, { domainId });
  expect(days.map(({ day, policyType, mode }) => [day, policyType, mode])).toEqual([
    ['2026-03-11', 'sts', 'enforce'],
    ['2026-03-10', 'sts', 'testing'],
    ['2026-03-10', 'tlsa', null],
  ]);
  expect(days[1]).toEqual({
    ...{ day: '2026-03-10', policyType: 'sts', mode: 'testing', successes: 16, failures: 5 },
    reporters: [
      { reporter: 'Provider One', successes: 10, failures: 4 },
      { reporter: 'provider two', successes: 6, failures: 1 },
    ],
    causes: [
      {
        ...{ resultType: 'certificate-expired', mxHost: 'mx.example.com', sessions: 5 },
        ...{ reporter: 'Provider One', reason: 'CERT_HAS_EXPIRED' },
      },
      {
        ...{ resultType: 'unknown', mxHost: null, sessions: 1 },
        ...{ reporter: 'provider two', reason: null },
      },
      {
        ...{ resultType: 'validation-failure', mxHost: 'mx2.example.com', sessions: 1 },
        ...{ reporter: 'Provider One', reason: null },
      },
    ],
  });
  expect((await read(store, { domainId, days: 1 })).map(({ day }) => day)).toEqual(['2026-03-11']);
});

test('only files and reports of established reporters count, also where there are no others', async () => {
  const { store, domainId } = await aStoreWithDomain();
  const of = { nobody: { authenticated: '' }, new: { authenticated: 'stranger.example' } };
  for (const sender of [of.nobody, of.new]) await receive(store.db, [aTold({})], NOW, sender);
  expect(await read(store, { domainId })).toEqual([]);
  await receive(store.db, [aTold({ successes: 3 })], NOW, GOOGLE);
  await receive(store.db, [aTold({ successes: 4 })]);
  expect(await read(store, { domainId })).toMatchObject([
    { successes: 7, reporters: [{ successes: 4 }, { successes: 3 }] },
  ]);
});

test('a reporter is who signed, whatever it calls itself', async () => {
  const { store, domainId } = await aStoreWithDomain();
  const reports = ['One', 'Two'].map((orgName) => aTold({ orgName }));
  await receive(store.db, reports, NOW, GOOGLE);
  expect((await read(store, { domainId }))[0]?.reporters).toHaveLength(1);
});

test('more reports than are read at once are all counted, and of many hosts the largest', async () => {
  const { store, domainId } = await aStoreWithDomain();
  const details = Array.from({ length: 600 }, (_, i) =>
    aReadFailure({ mxHost: `mx${i}.example.com`, sessions: 1 }),
  );
  const failing = aReadPolicy({ successes: 1, failures: 600, details });
  const times = Array.from({ length: 249 }, (_, i) => addDays('2026-03-01', i % 10));
  const reports = times.map((day) => aTold({ begin: `${day}T00:00:00Z`, successes: 1 }));
  await receive(store.db, [...reports, aTold({ policies: [failing] })]);
  const days = await read(store, { domainId });
  expect(days.reduce((all, { successes }) => all + successes, 0)).toBe(250);
  const { causes = [] } = days.find(({ failures }) => failures > 0) ?? {};
  expect(causes).toHaveLength(501);
  expect(causes[0]).toMatchObject({ mxHost: null, sessions: 100 });
});

describe('the version', () => {
  test('is none without TLS reports, and another one whenever one comes, goes or is believed', async () => {
    const { store, domainId } = await aStoreWithDomain();
    await receive(store.db, [aReport({})]);
    expect(await findVersion(store, domainId)).toBeNull();
    const versions = new Set<string | null>();
    const note = async () => versions.add(await findVersion(store, domainId)).size;
    await receive(store.db, [aTold({ reportId: 'kept' })], NOW, { authenticated: '' });
    expect(await note()).toBe(1);
    await receive(store.db, [aTold({ reportId: 'kept' })], NOW, GOOGLE);
    expect(await note()).toBe(2);
    expect(await read(store, { domainId })).toHaveLength(1);
    const tls = store.db.selectFrom('report').select('id').where('kind', '=', 'tls');
    await removeReport(store.db, (await tls.executeTakeFirstOrThrow()).id, NOW);
    expect(await note()).toBe(3);
    await receive(store.db, [aTold({})]);
    await pruneReports(store.db, { before: '2026-03-14', mayGoOn: async () => true });
    expect(await note()).toBe(4);
    expect(await read(store, { domainId })).toEqual([]);
  });
});

test('reports are read in the order of their index', async ({ skip }) => {
  skip(IS_CITUS);
  const { db, reader } = await aStore();
  const asked: BoundQuery<unknown>[] = [];
  const domainId = '00000000-0000-4000-8000-000000000000';
  await record(reader, asked).readPlan(() => planTlsDays({ domainId, ...RANGE }));
  for (const query of asked) {
    const plan = (await explainOfMany(db, query)).join('\n');
    expect(plan).toMatch(/report_tls/);
    expect(plan).not.toMatch(/SCAN|Seq Scan|TEMP B-TREE|Sort/);
  }
});
