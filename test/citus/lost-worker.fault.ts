import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { load, repeat, serveOn } from '../postgres-faults/served.ts';
import { aDomain } from '../support/builders.ts';
import { startCluster } from '../support/citus-cluster.ts';
import { makeCluster } from '../support/citus-databases.ts';
import { PATIENCE_MS } from '../support/every-suite.ts';
import { FeedCopy } from '../support/feed-copy.ts';
import { listMiscounts } from '../support/recount.ts';

/* A worker is killed while reports of domains of both workers come in, clients read, and one follows the feed. */

let servers: Awaited<ReturnType<typeof startCluster>>;
let served: Awaited<ReturnType<typeof serveOn>>;
let names: string[];
/** All reports that were stored, with the first. */
let reports = 1;

beforeAll(async () => {
  // What was committed stays when a server is killed.
  servers = await startCluster({ synchronous_commit: 'on', full_page_writes: 'on' });
  served = await serveOn(await makeCluster(servers.map(({ toUrl }) => toUrl('postgres'))));
  const { store, accountId, domain } = served;
  const others = Array.from({ length: 7 }, () => aDomain(store.db, accountId));
  names = [domain, ...(await Promise.all(others))].map(({ name }) => name);
});
afterAll(async () => {
  await served.stop();
  await Promise.all(servers.map((server) => server.stop()));
});

const LATER = { timeout: PATIENCE_MS };

/** Asks again after a 503, and when there is no answer in time. */
async function getLater(path: string) {
  for (;;) {
    const answer = await served.ask(path).catch((error: Error) => {
      if (error.name !== 'TimeoutError') throw error;
    });
    if (answer !== undefined && answer.status !== 503) return answer as never;
  }
}

/** Follows the feed until `end`. */
function follow(copy: FeedCopy) {
  let isOver = false;
  const following = (async () => {
    while (!isOver) await copy.finish(getLater, 20);
    await copy.finish(getLater);
  })();
  // Awaited by `end`.
  following.catch(() => {});
  return async () => {
    isOver = true;
    await following;
  };
}

/** The status of a page that all servers are asked for. */
const getReports = async () =>
  (await served.ask('/v1/external/reports').catch(() => undefined))?.status;

const total = async () =>
  (await served.store.db.selectFrom('domain').select('reports_total').execute()).reduce(
    (sum, { reports_total }) => sum + reports_total,
    0,
  );

test.each([
  [1, 'SIGKILL'],
  [2, 'SIGKILL'],
  [1, 'SIGQUIT'],
  [2, 'SIGQUIT'],
] as const)(
  'worker %i, %s: 503 while it is away, and nothing is lost, twice or stale when it is back',
  async (worker, signal) => {
    const copy = new FeedCopy();
    const { end, statuses } = load(served, names);
    const endFollowing = follow(copy);
    onTestFinished(endFollowing);
    await expect.poll(() => copy.reports.size, LATER).toBeGreaterThan(reports + 20);
    await servers[worker].kill(signal);
    // Who follows the feed is not told of it while nothing is new.
    await expect.poll(getReports, LATER).toBe(503);
    await servers[worker].start();
    const known = copy.reports.size;
    await expect.poll(() => copy.reports.size, LATER).toBeGreaterThan(known + 20);
    const { stored, failed } = await end();
    await endFollowing();
    await copy.hold(getLater);
    expect(await listMiscounts(served.store.db)).toEqual({});
    expect(await total()).toBeGreaterThanOrEqual(reports + stored.length);
    // An input whose end nobody was told of may have been stored.
    await repeat(served.store, failed);
    reports += stored.length + failed.length;
    expect(await total()).toBe(reports);
    await copy.finish(getLater);
    await copy.hold(getLater);
    expect(copy.reports.size).toBe(reports);
    expect(copy.begunAgain).toBe(0);
    expect(await listMiscounts(served.store.db)).toEqual({});
    expect(Object.keys(statuses).filter((code) => !['200', '503'].includes(code))).toEqual([]);
    process.stdout.write(
      `worker ${worker}, ${signal}: ${stored.length} stored, ${failed.length} failed, ${JSON.stringify(statuses)}\n`,
    );
  },
);
