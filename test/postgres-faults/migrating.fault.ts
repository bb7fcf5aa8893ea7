import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { seed } from '../../scripts/seed.ts';
import { PATIENCE_MS } from '../support/every-suite.ts';
import { startPostgres } from '../support/postgres.ts';
import { runOn } from '../support/postgres-stores.ts';
import { moduleOf } from '../support/processes.ts';
import { load, serveOn } from './served.ts';

/*
 * A version with later steps migrates the database of a server of this version, which answers requests and takes
 * reports in. Its process is killed among the batches, and again while PostgreSQL builds the index.
 */

const REPORTS = 50_000;
const LATER = new URL('../support/later-steps.ts', import.meta.url).href;

/** `plumbline migrate` of the later version. Prints each step before it runs. */
function migrate(url: string): ChildProcess {
  const text = `import { openStore } from 'src/store/engine/open.ts';
    import { laterSteps } from '${LATER}';
    const pause = () => new Promise((resolve) => setTimeout(resolve, 10));
    const migrate = async (pending) => {
      for (const { migration, run } of pending) {
        process.stdout.write(migration + '\\n');
        await run();
      }
    };
    const steps = laterSteps({ beforeBatch: pause });
    await (await openStore(process.argv[1], { steps, migrate })).close();
    process.stdout.write('done\\n');`;
  const child = spawn(process.execPath, [...moduleOf(text), url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

function collect(child: ChildProcess): () => string[] {
  let text = '';
  child.stdout?.on('data', (chunk) => {
    text += chunk;
  });
  return () => text.trim().split('\n');
}

async function killed(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** A connection of its own until the test ends. */
async function aClient(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** A transaction that reads. It has the table's lock until it ends, as a slow page or a backup does. */
async function beginReading(url: string, isolation: string): Promise<() => Promise<unknown>> {
  const client = await aClient(url);
  await client.query(`begin isolation level ${isolation}; select 1 from report limit 1`);
  return () => client.query('commit');
}

/** The longest that any statement waited for the lock of a table or of a row, by looking every few milliseconds. */
async function watchLocks(url: string): Promise<() => Promise<number>> {
  const client = await aClient(url);
  let longest = 0;
  let isOver = false;
  const watch = async () => {
    while (!isOver) {
      const { rows } = await client.query(`
        select coalesce(max(extract(epoch from clock_timestamp() - waitstart)), 0)::float as s
        from pg_locks where not granted and locktype in ('relation', 'tuple', 'transactionid')`);
      longest = Math.max(longest, rows[0].s);
      await sleep(5);
    }
  };
  const watching = watch();
  // Awaited at the end.
  watching.catch(() => {});
  return async () => {
    isOver = true;
    await watching;
    return longest;
  };
}

const SOON = { timeout: PATIENCE_MS, interval: 5 };
const INVALID = 'select count(*)::int as n from pg_index where not indisvalid';
const BUILDING = `from pg_stat_activity
  where query like 'create index concurrently%' and wait_event_type = 'Lock'`;

test('steps run while the older version serves: no request fails, and none waits a second for a lock', async () => {
  const server = await startPostgres();
  onTestFinished(server.stop);
  const url = server.toUrl('postgres');
  const served = await serveOn(url);
  onTestFinished(served.stop);
  await seed(served.store, { domains: 25, reports: REPORTS / 25 });
  const { end, statuses } = load(served);
  await expect.poll(() => statuses[200] ?? 0, SOON).toBeGreaterThan(50);
  const stopWatching = await watchLocks(url);
  const from = performance.now();

  // The lock for the new column is not granted for three seconds.
  const release = await beginReading(url, 'read committed');
  const first = migrate(url);
  const steps = collect(first);
  await expect.poll(steps, SOON).toContain('0002-add');
  await sleep(3_000);
  expect(steps()).toEqual(['0002-add']);
  await release();

  const filled = async () => {
    const [row] = await runOn(url, 'select count(later)::int as n from report');
    return Number(row?.['n']);
  };
  await expect.poll(steps, SOON).toContain('0003-fill');
  await expect.poll(filled, SOON).toBeGreaterThan(REPORTS / 4);
  await killed(first);
  const kept = await filled();
  expect(kept).toBeLessThan(REPORTS);

  // The index waits for a snapshot that is older. Its process is killed, and PostgreSQL ends the statement.
  const second = migrate(url);
  const resumed = collect(second);
  await expect.poll(resumed, SOON).toEqual(['0003-fill']);
  expect(await filled()).toBeGreaterThanOrEqual(kept);
  const releaseIndex = await beginReading(url, 'repeatable read');
  await expect.poll(() => runOn(url, `select 1 ${BUILDING}`), SOON).toHaveLength(1);
  await killed(second);
  await runOn(url, `select pg_terminate_backend(pid, 5000) ${BUILDING}`);
  expect(await runOn(url, INVALID)).toEqual([{ n: 1 }]);
  await releaseIndex();

  const third = migrate(url);
  const last = collect(third);
  const [status] = await once(third, 'exit');
  expect([status, last()]).toEqual([0, ['0004-index', '0005-check', '0006-validate', 'done']]);
  expect(await runOn(url, INVALID)).toEqual([{ n: 0 }]);

  const tookMs = Math.round(performance.now() - from);
  const answered = statuses[200] ?? 0;
  await expect.poll(() => statuses[200] ?? 0, SOON).toBeGreaterThan(answered + 20);
  const longest = await stopWatching();
  const { stored, failed } = await end();
  process.stdout.write(
    `migrated in ${tookMs} ms: ${JSON.stringify(statuses)}, ${stored.length} reports stored, ` +
      `the longest wait for a lock ${Math.round(longest * 1000)} ms\n`,
  );
  expect(Object.keys(statuses)).toEqual(['200']);
  expect(failed).toEqual([]);
  expect(longest).toBeGreaterThan(0);
  expect(longest).toBeLessThan(1);
});
