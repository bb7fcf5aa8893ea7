import { get } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { SERVER_ENV } from '../server-env.ts';
import type { Recorded } from './bare.ts';
import { type Measured, startMeasured } from './cpu.ts';
import type { BenchDatabase } from './databases.ts';
import { type Cost, cpuPerRequest, warmUp } from './load.ts';
import type { Load } from './paths.ts';
import { type Scenario, toExample } from './scenarios.ts';

/** A server that takes part in a comparison. */
export interface Contender {
  readonly name: string;
  readonly server: Measured;
}

export interface Result {
  readonly name: string;
  readonly micros: number;
  /** The CPU time of a database server for the request, 0 without one. */
  readonly elsewhere: number;
  readonly megabytes: number;
}

/** The cheapest of several rounds counts, because other work of the machine can only add time. */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 6);

/** Measures the servers in turn, round after round, after warming them up. */
export async function compare(
  contenders: readonly Contender[],
  loadOf: (contender: Contender) => Load,
  readElsewhere = () => 0,
): Promise<Result[]> {
  const least = new Map<Contender, Cost>();
  for (const contender of contenders) await warmUp(contender.server, loadOf(contender));
  for (let round = 0; round < ROUNDS; round++) {
    for (const contender of contenders) {
      const cost = await cpuPerRequest(contender.server, loadOf(contender), readElsewhere);
      const before = least.get(contender) ?? cost;
      least.set(contender, toLeast(before, cost));
    }
  }
  const results = contenders.map(async (contender) => ({
    name: contender.name,
    ...(least.get(contender) ?? { micros: Number.NaN, elsewhere: Number.NaN }),
    megabytes: (await contender.server.usage()).megabytes,
  }));
  return await Promise.all(results);
}

function toLeast(one: Cost, other: Cost): Cost {
  return {
    micros: Math.min(one.micros, other.micros),
    elsewhere: Math.min(one.elsewhere, other.elsewhere),
  };
}

interface Served {
  /** The folder of another checkout, which is served instead of this one. */
  readonly root?: string;
  readonly hasMetrics?: boolean;
}

export async function startPlumbline(
  { path }: Pick<BenchDatabase, 'path'>,
  pageCacheMb: Scenario['pageCacheMb'],
  { root, hasMetrics = false }: Served = {},
): Promise<Contender> {
  const served =
    root === undefined ? './served.ts' : `file://${join(root, 'scripts/bench/served.ts')}`;
  const server = await startMeasured(served, {
    ...SERVER_ENV,
    PLUMBLINE_DATABASE: path,
    PLUMBLINE_PORT: '0',
    PLUMBLINE_REQUESTS_PER_KEY: '1000000000',
    PLUMBLINE_REQUESTS_PER_IP: '1000000000',
    PLUMBLINE_PAGE_CACHE_MB: pageCacheMb,
    PLUMBLINE_LOG_LEVEL: process.env['PLUMBLINE_LOG_LEVEL'] ?? 'info',
    BENCH_METRICS: hasMetrics ? 'on' : 'off',
  });
  return { name: hasMetrics ? 'plumbline with metrics' : 'plumbline', server };
}

/** A bare server that sends what Plumbline answers to one of the load's requests. */
export async function startBare(
  { server }: Contender,
  { isKnown = false }: Scenario,
  { paths, headers }: Load,
): Promise<Contender> {
  const url = server.url + toExample(paths);
  const answer = await record(url, headers);
  const etag = answer.headers['etag'] ?? '';
  const sent = isKnown ? await record(url, { ...headers, 'if-none-match': etag }) : answer;
  const env = { BENCH_ANSWER: JSON.stringify(sent) };
  return { name: 'bare node:http', server: await startMeasured('./bare.ts', env) };
}

/** An answer without the headers of the connection. */
async function record(url: string, headers: Readonly<Record<string, string>>): Promise<Recorded> {
  const answer = await new Promise<Parameters<NonNullable<Parameters<typeof get>[2]>>[0]>(
    (resolve, reject) => get(url, { headers }, resolve).once('error', reject),
  );
  const body = (await buffer(answer)).toString('base64');
  const own = new Set(['connection', 'keep-alive', 'date', 'transfer-encoding']);
  const kept = Object.entries(answer.headers).filter(([name]) => !own.has(name));
  return {
    status: answer.statusCode ?? 0,
    headers: Object.fromEntries(kept) as Record<string, string>,
    body,
  };
}
