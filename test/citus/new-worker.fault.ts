import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import { load, repeat, serveOn } from '../postgres-faults/served.ts';
import { aDomain } from '../support/builders.ts';
import { addNode, startCluster, startNode } from '../support/citus-cluster.ts';
import { makeCluster } from '../support/citus-databases.ts';
import { PATIENCE_MS } from '../support/every-suite.ts';
import { FeedCopy } from '../support/feed-copy.ts';
import { runOn, startPostgres } from '../support/postgres.ts';
import { listMiscounts } from '../support/recount.ts';

const LATER = { timeout: PATIENCE_MS };
const program = (name: string) => join(process.env['CITUS_BIN'] ?? '', name);

test('shards move to a new worker under load, and a dump of the coordinator is a database of one server', async () => {
  const servers = await startCluster();
  const url = await makeCluster(servers.map(({ toUrl }) => toUrl('postgres')));
  const added = await startNode();
  const alone = await startPostgres();
  for (const server of [...servers, added, alone]) onTestFinished(server.stop);
  const served = await serveOn(url);
  onTestFinished(served.stop);
  const { store, accountId, domain } = served;
  const others = Array.from({ length: 7 }, () => aDomain(store.db, accountId));
  const names = [domain, ...(await Promise.all(others))].map(({ name }) => name);
  const { end, statuses } = load(served, names);
  const copy = new FeedCopy();
  const get = (path: string) => served.ask(path) as never;
  await expect.poll(() => statuses[200] ?? 0, LATER).toBeGreaterThan(50);

  await addNode(url, added.toUrl('postgres'));
  await runOn(url, 'select citus_rebalance_start()');
  const states = async () => (await runOn(url, 'select state from citus_rebalance_status()'))[0];
  await expect.poll(states, LATER).toEqual({ state: 'finished' });
  const shards = `select count(*)::int as n from citus_shards
    where nodeport = ${added.port} and table_name::text in ('report', 'conflict')`;
  expect((await runOn(url, shards))[0]?.['n']).toBeGreaterThan(0);
  const answered = statuses[200] ?? 0;
  await expect.poll(() => statuses[200] ?? 0, LATER).toBeGreaterThan(answered + 50);
  const { stored, failed } = await end();
  process.stdout.write(
    `a worker more: ${stored.length} stored, ${failed.length} failed, ${JSON.stringify(statuses)}\n`,
  );
  await repeat(store, failed);
  await copy.finish(get);
  await copy.hold(get);
  expect(await listMiscounts(store.db)).toEqual({});

  const dump = ['--extension=plpgsql', '--no-owner', '--dbname', url];
  const text = execFileSync(program('pg_dump'), dump, { maxBuffer: 2 ** 30 });
  const one = alone.toUrl('postgres');
  const options = ['--quiet', '--set=ON_ERROR_STOP=1', '--dbname', one];
  execFileSync(program('psql'), options, { input: text, stdio: ['pipe', 'ignore', 'inherit'] });
  await runOn(one, 'drop function domain_seq; drop table every_shard');
  const restored = await openStore(one);
  onTestFinished(restored.close);
  expect(await listMiscounts(restored.db)).toEqual({});
  const [row] = await runOn(one, 'select count(*)::int as n from report');
  expect(row).toEqual({ n: copy.reports.size });
});
