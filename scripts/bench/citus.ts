/**
 * `npm run bench -- citus`: reports of 400 domains of one account on one PostgreSQL server, which is then divided over a
 * coordinator and two workers of Citus, all on this machine (`CITUS_BIN`, as for `npm run test:citus`). `BENCH_REPORTS` makes it
 * smaller.
 */
import { toInstant } from '../../src/domain/instant.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { divide, joinNodes, startCluster } from '../../test/support/citus-cluster.ts';
import { runOn } from '../../test/support/postgres.ts';
import { receiveInputs } from '../receive.ts';
import { type Seeded, seed } from '../seed.ts';
import { aSyntheticReport } from '../synthetic-report.ts';
import { OWN, serve } from './checkout.ts';
import { type Cost, print, printCosts } from './compare.ts';
import { toMadeReport } from './databases.ts';
import { DURABLE } from './engines.ts';
import { REPORT } from './files.ts';
import { findParent, readChildrenMicros, readOwnMicros } from './processes.ts';

const DOMAINS = 400;
const REPORTS = Number(process.env['BENCH_REPORTS'] ?? 200_000);
/** Whose intake is measured: each has an original. */
const LAST = 2_000;
const MADE = { domains: DOMAINS, reporters: 1, records: 10, addresses: 15 };
/** After the seed's. */
const DAY = 1_100;
const ROUNDS = 101;

/** Bytes of a node's tables, of which shards have a number, with their indexes: of reports, of originals, of all else. */
const SIZES = `select case when relname ~ '^(report|conflict)(_\\d+)?$' then 'reports'
    when relname ~ '^document' then 'originals' else 'everything else' end as what,
    sum(pg_total_relation_size(oid))::float8 as bytes
  from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace group by 1`;
/** Otherwise Citus does not show shards. */
const SHOWN = '?options=-c%20citus.override_table_visibility%3Doff';

export async function benchCitus(): Promise<void> {
  const servers = await startCluster({ ...DURABLE, 'citus.shard_count': '32' });
  const urls = servers.map(({ toUrl }) => toUrl('postgres'));
  const [database = ''] = urls;
  try {
    await joinNodes(urls);
    const store = await openStore(database);
    const owner = await seed(store, { domains: DOMAINS, reports: REPORTS / DOMAINS });
    const domains = await store.db.selectFrom('domain').select('name').orderBy('seq').execute();
    await store.close();
    print(`${REPORTS} reports of ${DOMAINS} domains; ${LAST} more are taken in, with originals`);
    const names = domains.map(({ name }) => name);
    const given = { urls, owner, names, micros: await findMicros(urls) };
    const one = await measure(given);
    const begun = performance.now();
    await divide(database);
    print(`divided in ${((performance.now() - begun) / 1_000).toFixed(0)} s`);
    const three = await measure(given);
    for (const what of Object.keys(one))
      printCosts(what, ['one server', 'three'], [one[what] ?? {}, three[what] ?? {}]);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** CPU of all processes of the servers so far. */
async function findMicros(urls: readonly string[]): Promise<() => number> {
  const pids: number[] = [];
  for (const url of urls) {
    const [row] = await runOn(url, 'select pg_backend_pid() as pid');
    pids.push(findParent(Number(row?.['pid'])) ?? 0);
  }
  return () => pids.reduce((sum, pid) => sum + readOwnMicros(pid) + readChildrenMicros(pid), 0);
}

interface Given {
  readonly urls: readonly string[];
  readonly owner: Seeded;
  readonly names: readonly string[];
  readonly micros: () => number;
}

async function measure(given: Given): Promise<Record<string, Cost>> {
  const { urls, owner, micros } = given;
  const costs: Record<string, Cost> = { 'intake of a report': await take(given, LAST) };
  for (const [i, url] of urls.entries()) {
    await runOn(url, 'vacuum analyze');
    const sizes = await runOn(url + SHOWN, SIZES);
    const megabytes = sizes.map(({ what, bytes }) => [what, Number(bytes) / 1e6]);
    costs[`MB of node ${i}`] = Object.fromEntries(megabytes);
  }
  const server = await serve(OWN, urls[0] ?? '', 0);
  const headers = { authorization: `Bearer ${owner.key}` };
  const get = async (path: string, items?: number) => {
    const answer = await fetch(`${server.url}/v1/external/${path}`, { headers });
    const { data } = (await answer.json()) as { readonly data?: readonly unknown[] };
    if (data === undefined || data.length !== (items ?? data.length))
      throw new Error(`${path} answered ${answer.status}, with ${data?.length} items.`);
    return answer.headers.get('plumbline-cursor') ?? '';
  };
  const request = async (what: string, path: string, items: number) => {
    const times: number[] = [];
    const before = micros();
    for (let round = 0; round < ROUNDS; round++) {
      const begun = performance.now();
      await get(path, items);
      times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    costs[what] = {
      'least, ms': times[0] ?? 0,
      'median, ms': times[Math.floor(ROUNDS / 2)] ?? 0,
      'CPU of PostgreSQL, µs': (micros() - before) / ROUNDS,
    };
  };
  const page = `domains/${owner.domainIds[7]}/reports?limit=50`;
  await request('a page of 50 of a domain', page, 50);
  await request('the last of them', `${page}&offset=${REPORTS / DOMAINS - 50}`, 50);
  await request('a page of 50 of the account', 'reports?limit=50', 50);
  await request('the one in the middle', `reports?limit=50&offset=${REPORTS / 2}`, 50);
  let cursor = 'start';
  for (let last = ''; last !== cursor; ) {
    last = cursor;
    cursor = await get(`changes?limit=1000&after=${cursor}`);
  }
  await request('the feed, nothing new', `changes?after=${cursor}`, 0);
  await take(given, 10);
  await request('the feed, ten new', `changes?after=${cursor}`, 10);
  await request('the feed from its start, 50', 'changes?after=start&limit=50', 50);
  await server.stop();
  return costs;
}

let taken = 0;

/** Stores reports as intake does, which has read them. */
async function take({ urls, names, micros }: Given, count: number): Promise<Cost> {
  const store = await openStore(urls[0] ?? '');
  const inputs = Array.from({ length: count }, () => {
    const number = taken++;
    const domain = names[number % names.length] ?? '';
    const content = aSyntheticReport({ domain, number, day: DAY + Math.floor(number / DOMAINS) });
    const bytes = REPORT.toBytes({ ...toMadeReport(MADE, number), domain });
    return { name: `report ${number}`, bytes, documents: [{ member: [], content }] };
  });
  const [before, begun] = [micros(), performance.now()];
  await receiveInputs(store.db, inputs, toInstant(new Date()));
  const costs = {
    ms: (performance.now() - begun) / count,
    'CPU of PostgreSQL, µs': (micros() - before) / count,
  };
  await store.close();
  return costs;
}
