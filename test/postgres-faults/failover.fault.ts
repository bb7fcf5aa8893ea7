import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/every-suite.ts';
import { FeedCopy } from '../support/feed-copy.ts';
import { startPostgres, type TestServer } from '../support/postgres.ts';
import { runOn } from '../support/postgres-stores.ts';
import { listMiscounts } from '../support/recount.ts';
import { load, repeat, serveOn } from './served.ts';
import { aStandby } from './standby.ts';

/** How far the standby is behind: what came in this time is lost. */
const LAG_S = 2;
const LATER = { timeout: PATIENCE_MS };

let primary: TestServer;
let standby: TestServer;
let served: Awaited<ReturnType<typeof serveOn>>;

beforeAll(async () => {
  primary = await startPostgres({ settings: { wal_level: 'replica', max_wal_senders: '4' } });
  standby = await aStandby(primary, LAG_S);
  const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
  const url = primary.toUrl('postgres').replace(/@[^/]+/, `@${hosts}`);
  served = await serveOn(`${url}?target_session_attrs=read-write`);
});
afterAll(async () => {
  await served.stop();
  await standby.stop();
  await primary.stop();
});

/** Nobody gets its log any more. */
async function endReplication({ folder, toUrl }: TestServer): Promise<void> {
  const rules = join(folder, 'pg_hba.conf');
  await writeFile(rules, `host replication all all reject\n${await readFile(rules, 'utf8')}`);
  await runOn(toUrl('postgres'), 'select pg_reload_conf()');
  const senders = 'select pg_terminate_backend(pid) from pg_stat_replication';
  const end = async () => (await runOn(toUrl('postgres'), senders)).length;
  await expect.poll(end, LATER).toBe(0);
}

test('a failover to a standby that lags: followers end equal, and what was lost is told by 410', async () => {
  const { end, statuses } = load(served);
  const copy = new FeedCopy();
  const get = (path: string) => served.ask(path) as never;
  await expect.poll(() => statuses[200] ?? 0, LATER).toBeGreaterThan(50);
  const seen = 'select count(*)::int as count from report';
  const onStandby = async () =>
    (await runOn(standby.toUrl('postgres'), seen).catch(() => []))[0]?.['count'] ?? 0;
  await expect.poll(onStandby, LATER).toBeGreaterThan(5);
  // Followed to what the standby never gets: to be promoted, it applies all that it was sent.
  await endReplication(primary);
  const count = async () => Number((await runOn(primary.toUrl('postgres'), seen))[0]?.['count']);
  const sent = await count();
  await expect.poll(count, LATER).toBeGreaterThan(sent + 3);
  await copy.finish(get);
  const known = copy.reports.size;
  await primary.kill('SIGKILL');
  expect(await onStandby()).toBeLessThan(known);
  await runOn(standby.toUrl('postgres'), 'select pg_promote(false)');
  const before = statuses[200] ?? 0;
  await expect.poll(() => statuses[200] ?? 0, LATER).toBeGreaterThan(before + 50);
  const { stored, failed } = await end();
  await copy.finish(get);
  expect(copy.begunAgain).toBe(1);
  await copy.hold(get);
  expect(Object.keys(statuses).filter((status) => status !== '200' && status !== '503')).toEqual(
    [],
  );
  expect(await listMiscounts(served.store.db)).toEqual({});
  await repeat(served.store, failed);
  await copy.finish(get);
  await copy.hold(get);
  process.stdout.write(
    `failover: ${stored.length} stored, ${failed.length} failed, ${JSON.stringify(statuses)}\n`,
  );
});
