import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { seed } from '../../scripts/seed.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { listDifferences } from '../move/compare.ts';
import { type Databases, startDatabases } from '../move/databases.ts';
import { fillInstallation } from '../move/installation.ts';
import { runOn } from '../support/postgres-stores.ts';
import { aDatabasePath } from '../support/store.ts';

const KILLS = 20;
const REPORTS = 12_000;
const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

let databases: Databases;

beforeAll(async () => {
  databases = await startDatabases();
  return databases.stop;
});

async function aSource(): Promise<string> {
  const path = aDatabasePath();
  const store = await openStore(path);
  await fillInstallation(store.db);
  await seed(store, { domains: 2, reports: REPORTS / 2 });
  await store.close();
  return path;
}

function startMove(path: string, url: string) {
  const env = { PATH: process.env['PATH'], PLUMBLINE_DATABASE: path };
  return spawn(process.execPath, [CLI, 'move', url, '--json'], { env });
}

/**
 * Runs a move, and kills it after a time. Returns what it printed when it ended before, or when one that was killed had
 * committed everything; undefined otherwise.
 */
async function moveUntil(
  path: string,
  url: string,
  killAfterMs: number,
  wasKilled = false,
): Promise<string | undefined> {
  const child = startMove(path, url);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  const ended = once(child, 'close');
  const timer = new AbortController();
  const killed = sleep(killAfterMs, undefined, { signal: timer.signal }).then(
    () => child.kill('SIGKILL'),
    () => {},
  );
  const [status, signal] = await ended;
  timer.abort();
  await killed;
  if (signal === 'SIGKILL') return undefined;
  if (wasKilled && stderr.includes('was moved to PostgreSQL')) return stdout;
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

/** What a kill left in the target: all rows when it came after the commit, none otherwise. */
async function describeTarget(url: string): Promise<string> {
  const [tables] = await runOn(url, "select to_regclass('report') is not null as made");
  if (tables?.['made'] !== true) return 'no tables';
  const [reports] = await runOn(url, 'select count(*)::int as count from report');
  return `${reports?.['count']} reports`;
}

/** Kills a move at random moments, and runs it again, until it ends or was killed often enough. */
async function moveWithKills(
  path: string,
  url: string,
  { kills, wholeMs }: Wanted,
): Promise<number> {
  for (let killed = 0; ; killed += 1) {
    const afterMs = killed < kills ? Math.random() * wholeMs : NEVER_MS;
    if ((await moveUntil(path, url, afterMs, killed > 0)) !== undefined) return killed;
    const target = await describeTarget(url);
    process.stdout.write(`killed after ${Math.round(afterMs)} ms: ${target}\n`);
  }
}

interface Wanted {
  readonly kills: number;
  readonly wholeMs: number;
}

const NEVER_MS = 600_000;

/** How long a move takes that is not killed. */
async function measureMove(original: string): Promise<number> {
  const path = aDatabasePath();
  copyFileSync(original, path);
  const url = await databases.createBare();
  const begun = performance.now();
  await moveUntil(path, url, NEVER_MS);
  return performance.now() - begun;
}

test(`a move that is killed at ${KILLS} random moments and run again moves every row`, async () => {
  const original = await aSource();
  const aMove = async (wanted: Wanted) => {
    const path = aDatabasePath();
    copyFileSync(original, path);
    const url = await databases.createBare();
    const killed = await moveWithKills(path, url, wanted);
    expect(await listDifferences(path, url)).toEqual([]);
    await (await openStore(url)).close();
    await expect(openStore(path)).rejects.toThrow('was moved to PostgreSQL');
    return killed;
  };
  const wholeMs = await measureMove(original);
  let [kills, moves] = [0, 0];
  for (; kills < KILLS; moves += 1) kills += await aMove({ kills: KILLS - kills, wholeMs });
  process.stdout.write(`${kills} kills, ${moves} moves finished, every row equal\n`);
  expect(kills).toBe(KILLS);
});
