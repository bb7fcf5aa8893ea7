/**
 * The CPU time of a request in the server's process: a cached page, a page read for each request and a 304,
 * each compared with a bare node:http server that sends the same bytes; and the first page of a list compared
 * with its middle and its last, at three sizes.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../src/store/connection/open.ts';
import { type Seeded, seed } from '../seed.ts';
import type { Recorded } from './bare.ts';
import { type Measured, startMeasured } from './cpu.ts';
import { cpuPerRequest } from './load.ts';
import { print } from './print.ts';

const AMOUNT = 10_000;
/** The cheapest of several rounds counts, because other work of the machine can only add time. */
const ROUNDS = 7;

interface Scenario {
  readonly name: string;
  readonly goal: number;
  readonly path: string;
  readonly isFresh: boolean;
  readonly isKnown: boolean;
}

export async function benchApi(sizes: readonly number[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'));
  try {
    for (const [i, size] of sizes.entries()) {
      const database = join(folder, `${size}.db`);
      const store = await openStore(database);
      const seeded = await seed(store, { domains: 1, reports: size });
      await store.close();
      if (i === 0) await benchAgainstBare(database, seeded);
      await benchDepth(database, seeded, size);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function benchAgainstBare(database: string, seeded: Seeded): Promise<void> {
  const path = `/v1/external/domains/${seeded.domainIds[0]}/reports`;
  const scenarios: Scenario[] = [
    { name: 'repeated page of 50', goal: 6, path, isFresh: false, isKnown: false },
    { name: 'page of 50 made afresh', goal: 12, path, isFresh: true, isKnown: false },
    { name: '304', goal: 5, path, isFresh: false, isKnown: true },
  ];
  print(`\nAgainst a bare node:http server sending the same bytes (µs of CPU a request)`);
  for (const scenario of scenarios) await compareWithBare(database, seeded, scenario);
}

async function compareWithBare(
  database: string,
  { key }: Seeded,
  scenario: Scenario,
): Promise<void> {
  const served = await startServed(database, scenario.isFresh ? '0' : '32');
  const authorization = `Bearer ${key}`;
  const first = await fetch(served.url + scenario.path, { headers: { authorization } });
  const etag = first.headers.get('etag') ?? '';
  const headers = scenario.isKnown ? { authorization, 'if-none-match': etag } : { authorization };
  const answer = await record(served.url + scenario.path, headers);
  const bare = await startMeasured('./bare.ts', { BENCH_ANSWER: JSON.stringify(answer) });
  const load = { path: scenario.path, headers, amount: AMOUNT, status: answer.status };
  const [bares, ours]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    bares.push(await cpuPerRequest(bare, load));
    ours.push(await cpuPerRequest(served, load));
  }
  served.stop();
  bare.stop();
  const [base, cost] = [Math.min(...bares), Math.min(...ours)];
  print(
    `  ${scenario.name.padEnd(24)} bare ${base.toFixed(1)}  plumbline ${cost.toFixed(1)}  ` +
      `${(cost / base).toFixed(2)} × (goal ≤ ${scenario.goal} ×)`,
  );
}

/** Each page is read for every request, so that only its position in the list differs. */
async function benchDepth(database: string, seeded: Seeded, size: number): Promise<void> {
  const served = await startServed(database, '0');
  const path = `/v1/external/domains/${seeded.domainIds[0]}/reports?offset=`;
  const headers = { authorization: `Bearer ${seeded.key}` };
  const offsets = [0, Math.floor(size / 2), size - 50];
  const costs = offsets.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, offset] of offsets.entries()) {
      const load = { path: path + offset, headers, amount: AMOUNT / 5, status: 200 };
      costs[i]?.push(await cpuPerRequest(served, load));
    }
  }
  const [first = 0, half = 0, deepest = 0] = costs.map((all) => Math.min(...all));
  served.stop();
  print(`\n${size} reports: first page ${first.toFixed(1)} µs of CPU, not cached`);
  print(`  page in the middle       ${half.toFixed(1)}  ${(half / first).toFixed(2)} × the first`);
  print(
    `  deepest page             ${deepest.toFixed(1)}  ${(deepest / first).toFixed(2)} × the first (goal ≤ 3 ×)`,
  );
}

function startServed(database: string, pageCacheMb: string): Promise<Measured> {
  return startMeasured('./served.ts', {
    PLUMBLINE_DATABASE: database,
    PLUMBLINE_PORT: '0',
    PLUMBLINE_REQUESTS_PER_KEY: '1000000000',
    PLUMBLINE_REQUESTS_PER_IP: '1000000000',
    PLUMBLINE_PAGE_CACHE_MB: pageCacheMb,
    PLUMBLINE_LOG_LEVEL: process.env['PLUMBLINE_LOG_LEVEL'] ?? 'info',
  });
}

/** An answer of the product, for the baseline to send, without the headers of the connection. */
async function record(url: string, headers: Record<string, string>): Promise<Recorded> {
  const response = await fetch(url, { headers: { ...headers, 'accept-encoding': 'identity' } });
  const own = new Set(['connection', 'keep-alive', 'date', 'transfer-encoding']);
  const kept = [...response.headers].filter(([name]) => !own.has(name));
  return {
    status: response.status,
    headers: Object.fromEntries(kept),
    body: await response.text(),
  };
}
