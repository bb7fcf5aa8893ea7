import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import { type Answer, serveApi } from '../support/api.ts';
import { aDomain, anAccount, type TestAccount } from '../support/builders.ts';
import { caseCount } from '../support/counts.ts';
import { FeedCopy } from '../support/feed-copy.ts';
import { listMiscounts } from '../support/recount.ts';
import { aDatabase } from '../support/store.ts';
import type { Change, Work } from './writer-process.ts';

/** More in CI: `FOLLOWED_HISTORIES=100`. */
const HISTORIES = Number(
  process.env['FOLLOWED_HISTORIES'] ?? caseCount({ few: 6, full: 60, fewOnPostgres: 4 }),
);

const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('reports' as const),
      domain: fc.nat(1),
      days: fc.array(fc.integer({ min: 1, max: 31 }), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fire' as const), domain: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('resolve' as const), nth: fc.nat(9) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('status' as const),
      domain: fc.nat(1),
      status: fc.constantFrom('active' as const, 'paused' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(6) }) },
);

interface History {
  readonly writers: readonly [readonly Change[], readonly Change[]];
  /** How many items each follower asks for at once. */
  readonly limits: readonly number[];
}

const history: fc.Arbitrary<History> = fc.record({
  writers: fc.tuple(
    fc.array(change, { minLength: 3, maxLength: 14 }),
    fc.array(change, { minLength: 3, maxLength: 14 }),
  ),
  limits: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 6, maxLength: 6 }),
});

type Get = (path: string) => Promise<Answer>;
interface Item {
  readonly id: string;
  readonly resolved_at?: string | null;
}

/** A client that follows one list and notes what it meets, in order. */
class Follower {
  readonly met: Item[] = [];
  readonly #get: Get;
  readonly #path: string;
  #cursor: string;

  constructor(get: Get, path: string, cursor = 'start') {
    this.#get = get;
    this.#path = path;
    this.#cursor = cursor;
  }

  /** One request. Returns whether something was new. */
  async ask(): Promise<boolean> {
    const { body, headers } = await this.#get(this.#path + this.#cursor);
    this.met.push(...body.data);
    this.#cursor = headers['plumbline-cursor'] as string;
    expect(body.total >= body.data.length && (body.total === 0) === (body.data.length === 0)).toBe(
      true,
    );
    return body.data.length > 0;
  }
}

async function startWriters(path: string): Promise<[ChildProcess, ChildProcess]> {
  const start = async () => {
    const child = fork(new URL('./writer-process.ts', import.meta.url), [path]);
    onTestFinished(() => void child.kill());
    await once(child, 'message');
    return child;
  };
  return [await start(), await start()];
}

async function write(child: ChildProcess, work: Work): Promise<void> {
  const done = once(child, 'message');
  child.send(work);
  await done;
}

test(`${HISTORIES} random histories of two processes that write: followers miss and repeat nothing`, async () => {
  const path = await aDatabase();
  const store = await openStore(path);
  const api = await serveApi({ store, pageCacheBytes: 0 });
  const writers = await startWriters(path);
  const met = { reports: 0, alerts: 0 };

  const run = async ({ writers: changes, limits }: History): Promise<void> => {
    const account: TestAccount = await anAccount(api.db);
    const domains = [await aDomain(api.db, account.id), await aDomain(api.db, account.id)];
    const get: Get = (at) => api.get(at, { key: account.key });
    const lists = [
      ...domains.map(({ id }) => `/v1/external/domains/${id}/reports?received_after=`),
      '/v1/external/alerts?changed_after=',
      `/v1/external/alerts?domain_id=${domains[0]?.id}&changed_after=`,
      // The writers fire alerts of this type and of another one.
      '/v1/external/alerts?type=alert.alignment_regression&changed_after=',
    ];
    const toPath = (list: string, i: number) => list.replace('?', `?limit=${limits[i]}&`);
    const followers = lists.map((list, i) => new Follower(get, toPath(list, i)));
    const feed = new FeedCopy();
    const late = await followWhile(writeAll(writers, { account, domains, changes }), async () => {
      const late = await followFromNow(get, lists);
      const asking = { ask: () => feed.ask(get, limits.at(-1)) };
      return { late, all: [...followers, ...late.followers, asking] };
    });
    await holdFeed(feed, get);

    for (const [i, list] of lists.entries()) {
      const everything = await readWhole(get, list);
      const isAlerts = list.includes('alerts');
      met[isAlerts ? 'alerts' : 'reports'] += everything.length;
      hold(isAlerts, followers[i]?.met ?? [], everything);
      holdLate(late.followers[i]?.met ?? [], everything, late.totals[i] ?? 0);
    }
  };
  await fc.assert(fc.asyncProperty(history, run), { numRuns: HISTORIES, endOnFailure: true });
  expect(met.reports).toBeGreaterThan(HISTORIES);
  expect(met.alerts).toBeGreaterThan(HISTORIES);
  expect(await listMiscounts(store.db)).toEqual({});
}, 600_000);

interface Writing {
  readonly account: TestAccount;
  readonly domains: Work['domains'];
  readonly changes: History['writers'];
}

async function writeAll(
  writers: readonly ChildProcess[],
  { account, domains, changes }: Writing,
): Promise<void> {
  const works = changes.map((some) => ({ accountId: account.id, domains, changes: some }));
  await Promise.all(writers.map((child, i) => write(child, works[i] as Work)));
}

type Late = Awaited<ReturnType<typeof followFromNow>>;

/** Lets all followers ask in turn while something is written, and then until nothing is new. */
async function followWhile(
  writing: Promise<void>,
  start: () => Promise<{ late: Late; all: readonly Pick<Follower, 'ask'>[] }>,
): Promise<Late> {
  let isOver = false;
  const written = writing.finally(() => {
    isOver = true;
  });
  const { late, all } = await start();
  while (!isOver) for (const follower of all) await follower.ask();
  await written;
  for (const follower of all) while (await follower.ask());
  return late;
}

/** Followers that begin with the cursor of an ordinary page, and how many items each list had then. */
async function followFromNow(get: Get, lists: readonly string[]) {
  const followers: Follower[] = [];
  const totals: number[] = [];
  for (const list of lists) {
    const { body, headers } = await get(list.replace(/[?&]\w+_after=$/, ''));
    followers.push(new Follower(get, list, headers['plumbline-cursor']));
    totals.push(body.total);
  }
  return { followers, totals };
}

/** The whole list, newest first, as it is without a cursor. */
async function readWhole(get: Get, list: string): Promise<Item[]> {
  const path = list.replace(/\w+_after=$/, 'limit=200');
  const { body } = await get(path);
  expect(body.data).toHaveLength(body.total);
  return body.data;
}

/** The copy that was kept while something was written, and one of afterwards, which meets everything once. */
async function holdFeed(kept: FeedCopy, get: Get): Promise<void> {
  await kept.hold(get);
  const fresh = new FeedCopy();
  await fresh.finish(get, 3);
  await fresh.hold(get);
  const met = fresh.met.flatMap(({ report, alert }) => report?.id ?? alert?.id ?? []);
  expect(met.sort()).toEqual([...fresh.reports.keys(), ...fresh.alerts.keys()].sort());
}

function hold(isAlerts: boolean, met: readonly Item[], everything: readonly Item[]): void {
  if (isAlerts) holdAlerts(met, everything);
  else holdReports(met, everything);
}

/** Every report exactly once. */
function holdReports(met: readonly Item[], everything: readonly Item[]): void {
  expect(met.map(({ id }) => id).sort()).toEqual(everything.map(({ id }) => id).sort());
}

/** Every firing and every resolution exactly once: open at most once, then resolved at most once. */
function holdAlerts(met: readonly Item[], everything: readonly Item[]): void {
  for (const { id, resolved_at } of everything) {
    const states = met.filter((item) => item.id === id).map((item) => item.resolved_at !== null);
    const allowed = resolved_at === null ? ['false'] : ['true', 'false,true'];
    expect(allowed).toContain(states.join());
  }
  const known = new Set(everything.map(({ id }) => id));
  expect(met.filter(({ id }) => !known.has(id))).toEqual([]);
}

/** Who begins later meets what came since: as many new items as the list has grown by, none of them twice. */
function holdLate(met: readonly Item[], everything: readonly Item[], before: number): void {
  const states = met.map(({ id, resolved_at }) => `${id} ${resolved_at}`);
  expect(new Set(states).size).toBe(states.length);
  const isNew = new Set(met.map(({ id }) => id)).size;
  expect(isNew).toBeGreaterThanOrEqual(everything.length - before);
  if (everything.every((item) => !('resolved_at' in item)))
    expect(isNew).toBe(everything.length - before);
}
