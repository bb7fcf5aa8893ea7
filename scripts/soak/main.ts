/**
 * Four processes on one database file: two serve, one ingests archives and single files as fast as it can,
 * one creates keys, signs in and out, and lists. `npm run soak` takes three minutes; SOAK_SECONDS shortens
 * it. Times are compared with their goals only with SOAK_TIMES=1, because other work on the machine changes them.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../src/store/engine/open.ts';
import { seed } from '../seed.ts';
import { runPlumbline, servePlumbline } from '../served-plumbline.ts';
import { actUntil } from './actor.ts';
import type { Ingested } from './ingester.ts';
import { percentile, pollReadiness, readPages } from './pages.ts';
import { recount } from './recount.ts';

const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 120);
const MAX_RATIO = 3;
const MAX_READY_MS = 500;
const SEEDED = 20_000;
const NO_LIMIT = '1000000';

const areTimesChecked = process.env['SOAK_TIMES'] === '1';
/** The figures of an idle server are those that busy ones are compared with. */
const IDLE_SECONDS = areTimesChecked ? 20 : 3;
const checks: { readonly name: string; readonly isGood: boolean }[] = [];

function check(name: string, isGood: boolean): void {
  checks.push({ name, isGood });
  process.stdout.write(`${isGood ? '✓' : '✗'} ${name}\n`);
}

/** A figure that depends on the machine. */
function checkTime(name: string, isGood: boolean): void {
  if (areTimesChecked) check(name, isGood);
  else process.stdout.write(`  ${name}: ${isGood ? 'reached' : 'missed'}\n`);
}

const folder = await mkdtemp(join(tmpdir(), 'plumbline-soak-'));
try {
  await soak(join(folder, 'soak.db'));
} finally {
  await rm(folder, { recursive: true });
}
const failed = checks.filter(({ isGood }) => !isGood).length;
process.stdout.write(`${checks.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

/** In a process of its own, because making reports would delay what is measured here. */
async function startIngester(until: number, environment: NodeJS.ProcessEnv): Promise<Ingested> {
  const script = new URL('./ingester.ts', import.meta.url);
  const env = { ...process.env, ...environment };
  const [ingested] = await once(fork(script, [`${until}`, folder], { env }), 'message');
  return ingested as Ingested;
}

async function soak(database: string): Promise<void> {
  const store = await openStore(database);
  const { key, domainIds } = await seed(store, { domains: 1, reports: SEEDED });
  await store.close();
  const environment = {
    PLUMBLINE_DATABASE: database,
    PLUMBLINE_REQUESTS_PER_KEY: NO_LIMIT,
    PLUMBLINE_REQUESTS_PER_IP: NO_LIMIT,
  };
  const servers = [
    await servePlumbline(['serve'], environment),
    await servePlumbline(['serve'], environment),
  ];
  const urls = servers.map(({ url }) => url);
  const pages = { urls, key, domainId: domainIds[0] as string, total: SEEDED };
  try {
    await runPlumbline(['account', 'create', 'Soak'], environment);
    await readPages(pages, Date.now() + 2_000);
    const idle = await readPages(pages, Date.now() + IDLE_SECONDS * 1000);
    const until = Date.now() + SECONDS * 1000;
    const [busy, ready, ingested, acted] = await Promise.all([
      readPages(pages, until),
      pollReadiness(urls, until),
      startIngester(until, environment),
      actUntil(until, { urls, environment }),
    ]);
    const [idleMs, busyMs] = [percentile(idle.times, 99), percentile(busy.times, 99)];
    const errors = [...idle.errors, ...busy.errors, ...acted.errors, ...ingested.errors];
    check(
      `${busy.times.length} pages and ${acted.count} actions: no error ${errors.slice(0, 3)}`,
      errors.length === 0,
    );
    check(`/readyz always answers 200 ${ready.errors.slice(0, 3)}`, ready.errors.length === 0);
    const ratio = busyMs / idleMs;
    checkTime(
      `p99 of a page: ${busyMs.toFixed(1)} ms, ${ratio.toFixed(2)} × idle; goal ${MAX_RATIO} ×`,
      ratio <= MAX_RATIO,
    );
    const slowest = Math.max(...ready.times);
    checkTime(
      `slowest of ${ready.times.length} answers of /readyz: ${slowest.toFixed(0)} ms; goal ${MAX_READY_MS} ms`,
      slowest < MAX_READY_MS,
    );
    const { reports, wrong } = recount(database);
    check(
      `${ingested.stored} reports ingested; ${reports} are stored`,
      reports === SEEDED + ingested.stored,
    );
    check(`every count equals its recount ${wrong.slice(0, 3)}`, wrong.length === 0);
  } finally {
    for (const { stop } of servers) await stop();
  }
}
