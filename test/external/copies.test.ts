import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { settleAlert } from '../../src/store/alerts/alerts.ts';
import { addDomain, insertDomain, updateDomainStatus } from '../../src/store/domains/domains.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { operator } from '../../src/store/events/audit.ts';
import { pruneReports } from '../../src/store/reports/aging/old-reports.ts';
import { preferConflict, removeReport } from '../../src/store/reports/corrections.ts';
import { finishListings } from '../../src/store/reports/listing.ts';
import { type Answer, type Api, startApi } from '../support/api.ts';
import {
  aDomain,
  anAccount,
  anAlert,
  aRecord,
  aReport,
  aReportOf,
  NOW,
  receive,
} from '../support/builders.ts';
import { IS_CITUS } from '../support/citus-databases.ts';
import { caseCount } from '../support/counts.ts';
import { failingDb } from '../support/failing-db.ts';
import { FeedCopy } from '../support/feed-copy.ts';
import { listMiscounts } from '../support/recount.ts';
import { aDatabase, backUp } from '../support/store.ts';
import { aReadTlsReport } from '../support/tls-report.ts';
import type { Change, Work } from './writer-process.ts';

/* A partner's copy, kept by the words of the guide alone (openapi/guides/feed.md). */

/** More by hand: `COPIED_HISTORIES=300`, on PostgreSQL too. */
const HISTORIES = Number(
  process.env['COPIED_HISTORIES'] ??
    caseCount({ few: 20, full: 40, fewOnPostgres: 5, fullOnPostgres: 10 }),
);
/** Another one tries others: `COPIED_SEED=7`. */
const SEED = Number(process.env['COPIED_SEED'] ?? 43);
const DOMAINS = 2;

const which = fc.nat(9);
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('receive' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('correct' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove report' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove domain' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('list' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('write at once' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('prune' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pause' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('resume' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fire' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('resolve' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('update' as const), which }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('ask' as const), which }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('ask for changes' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('back up' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restore' as const), which }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

type Ask = (path: string) => Promise<Answer>;

/** One list, as a client has it. */
class Copy {
  readonly items = new Map<string, unknown>();
  readonly #path: string;
  #cursor = 'start';
  begunAgain = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** One request. Returns whether something was new. */
  async ask(ask: Ask): Promise<boolean> {
    const { status, body, headers } = await ask(this.#path + this.#cursor);
    if (status === 200) {
      for (const item of body.data) this.items.set(item.id, item);
      this.#cursor = headers['plumbline-cursor'] as string;
      return body.data.length > 0;
    }
    // The account does not have the domain now, or an item was removed, or a backup was restored.
    expect([404, 410]).toContain(status);
    this.items.clear();
    this.#cursor = 'start';
    if (status === 410) this.begunAgain += 1;
    return status === 410;
  }
}

/** Reports that come to the account's list, or leave it, in one transaction of the step `list`. */
const LISTED_AT_ONCE = 2;

/** Statements after which a process is killed. */
const KILLED_AFTER = [12, 24, 36];

const KINDS = ['reports', 'tls-reports'] as const;

/** An account whose data is written through two stores of this process, and at times by two other processes at once. */
class World {
  readonly #path: string;
  readonly #key: string;
  readonly #accountId: string;
  readonly #domains: readonly { readonly id: string; readonly name: string }[];
  readonly copies: readonly Copy[];
  /** One that asks for TLS reports, and one that does not know of them. */
  readonly feeds = [new FeedCopy('records,tls'), new FeedCopy()] as const;
  #api: Api;
  #other: Store;
  #restore: (() => Promise<void>) | undefined;
  #count = 0;
  /** Reports of earlier days may have gone by age. */
  prunedBefore = '';
  restores = 0;

  readonly #writers: readonly ChildProcess[];

  private constructor(path: string, api: Api, other: Store, own: Own) {
    this.#path = path;
    this.#writers = own.writers;
    this.#api = api;
    this.#other = other;
    this.#key = own.key;
    this.#accountId = own.accountId;
    this.#domains = own.domains;
    this.copies = [
      ...own.domains.flatMap(({ id }) =>
        KINDS.map((kind) => new Copy(`/v1/external/domains/${id}/${kind}?limit=2&received_after=`)),
      ),
      new Copy('/v1/external/alerts?limit=2&changed_after='),
    ];
  }

  static async begin(writers: readonly ChildProcess[]): Promise<World> {
    const path = await aDatabase();
    const api = await startApi({ store: await openStore(path) });
    const { id: accountId, key } = await anAccount(api.db);
    const domains = [];
    for (let i = 0; i < DOMAINS; i += 1) domains.push(await aDomain(api.db, accountId));
    return new World(path, api, await openStore(path), { accountId, key, domains, writers });
  }

  async end(): Promise<void> {
    await this.#other.close();
    await this.#api.close();
  }

  get = (path: string) => this.#api.get(path, { key: this.#key });

  async take({ kind, which }: Step): Promise<void> {
    const open = which % 2 === 0 ? this.#api.db : this.#other.db;
    const db = which < 3 ? failingDb(open, KILLED_AFTER[which] ?? 0).db : open;
    const domain = this.#domains[which % DOMAINS] as { id: string; name: string };
    const reports = await db.selectFrom('report').select('id').orderBy('id').execute();
    const report = reports[which % Math.max(1, reports.length)];
    this.#count += 1;
    const day = `2026-03-${String(10 + which)}T00:00:00Z`;
    const steps: Readonly<Record<Step['kind'], () => Promise<unknown>>> = {
      receive: () =>
        receive(db, [
          aReport({ domain: domain.name, begin: day }),
          aReport({ domain: domain.name, begin: NOW }),
          aReadTlsReport({ domain: domain.name, begin: day, reportId: `${which % 3}` }),
        ]),
      correct: () => this.#correct(db, domain.name),
      'remove report': async () => report && (await removeReport(db, report.id, NOW)),
      'remove domain': () => this.#removeOrAdd(db, domain),
      list: () => finishListings(db, async () => which > 5, LISTED_AT_ONCE),
      'write at once': () => this.#writeAtOnce(which),
      prune: () => this.#prune(db, day.slice(0, 10)),
      pause: () => this.#setStatus(db, domain.id, 'paused'),
      resume: () => this.#setStatus(db, domain.id, 'active'),
      fire: () => this.#fire(db, domain.id),
      resolve: () => this.#settle(db, which, { resolved_at: NOW }),
      update: () => this.#settle(db, which, { context: `{"figure":${this.#count}}` }),
      ask: async () => await this.copies[which % this.copies.length]?.ask(this.get),
      'ask for changes': async () => await this.feeds[which % 2]?.ask(this.get, which + 1),
      'back up': () => this.#reopen(async () => await (IS_CITUS ? undefined : this.#backUp())),
      // The workers would keep what they have.
      restore: () => this.#reopen(async () => await (IS_CITUS ? undefined : this.#restore?.())),
    };
    await steps[kind]().catch(forgiveKilling);
  }

  /** Two processes store reports, fire alerts, pause and resume. */
  async #writeAtOnce(which: number): Promise<void> {
    const owned = [];
    for (const domain of this.#domains)
      owned.push(...((await this.#isOwned(this.#api.db, domain.id)) ? [domain] : []));
    const report = { kind: 'reports', domain: which % DOMAINS, days: [16, 17] } as const;
    const alerts = owned.flatMap((_, domain): Change[] => [
      { kind: 'fire', domain },
      { kind: 'resolve', nth: which },
      { kind: 'status', domain, status: which % 3 === 0 ? 'paused' : 'active' },
    ]);
    const reports = { domains: this.#domains, changes: [report, report] };
    const fired = { domains: owned, changes: alerts };
    const work = { database: this.#path, accountId: this.#accountId };
    await Promise.all(
      this.#writers.map((writer, i) => write(writer, { ...work, ...(i === 0 ? reports : fired) })),
    );
    await write(this.#writers[0] as ChildProcess, { ...work, ...fired });
  }

  /** All reports are listed as their domain is, also those of whom a process was killed. */
  async settle(): Promise<void> {
    await finishListings(this.#api.db, async () => true, LISTED_AT_ONCE);
  }

  async #backUp(): Promise<void> {
    const restore = await backUp(this.#path);
    this.#restore = async () => {
      this.#restore = undefined;
      this.restores += 1;
      await restore();
    };
  }

  async #reopen(work: () => Promise<void>): Promise<void> {
    await this.end();
    await work();
    this.#api = await startApi({ store: await openStore(this.#path) });
    this.#other = await openStore(this.#path);
  }

  /** Another content of one report comes in, and is preferred. */
  async #correct(db: Store['db'], domain: string): Promise<void> {
    const one = { domain, reportId: `of ${domain}`, begin: NOW };
    const [totalMessages, payload] = [100 + this.#count, `content ${this.#count}`];
    const tls = { domain, reportId: 'of TLS', begin: NOW, successes: totalMessages };
    const records = [aRecord({ count: totalMessages }), aRecord({ sourceIp: '192.0.2.9' })];
    await receive(db, [aReportOf(records, { ...one, payload }), aReadTlsReport(tls)]);
    const conflicts = db.selectFrom('conflict').select('seq').orderBy('seq', 'desc').limit(2);
    for (const { seq } of await conflicts.execute()) await preferConflict(db, seq);
  }

  async #removeOrAdd(db: Store['db'], { id, name }: { id: string; name: string }): Promise<void> {
    if (await this.#isOwned(db, id)) return void (await removeDomain(db, id));
    const added = { accountId: this.#accountId, name, now: NOW };
    if (this.#count % 2 === 0) return void (await insertDomain(db, added));
    // Its reports come by the step `list`.
    await db.write((tx) => addDomain(tx, added, operator(NOW)));
  }

  async #prune(db: Store['db'], before: string): Promise<void> {
    // Also of one that is killed, some may have gone.
    if (before > this.prunedBefore) this.prunedBefore = before;
    await pruneReports(db, { before, mayGoOn: async () => true });
  }

  async #setStatus(db: Store['db'], id: string, status: 'active' | 'paused'): Promise<void> {
    if (await this.#isOwned(db, id)) await updateDomainStatus(db, id, status);
  }

  async #fire(db: Store['db'], domainId: string): Promise<void> {
    if (!(await this.#isOwned(db, domainId))) return;
    await anAlert(db, { accountId: this.#accountId, domainId }, { type: `alert.${this.#count}` });
  }

  async #settle(
    db: Store['db'],
    which: number,
    change: Parameters<typeof settleAlert>[2],
  ): Promise<void> {
    const open = db.selectFrom('alert').select('id').where('resolved_at', 'is', null);
    const alerts = await open.orderBy('id').execute();
    const alert = alerts[which % Math.max(1, alerts.length)];
    if (alert !== undefined) await db.write((tx) => settleAlert(tx, alert.id, change));
  }

  async #isOwned(db: Store['db'], id: string): Promise<boolean> {
    const owned = db.selectFrom('domain').select('id').where('account_id', 'is not', null);
    return (await owned.where('id', '=', id).execute()).length > 0;
  }

  /** What the copies of lists have to be, in their order. */
  async readLists(): Promise<Map<string, unknown>[]> {
    const lists = [
      ...this.#domains.flatMap(({ id }) =>
        KINDS.map((kind) => `/v1/external/domains/${id}/${kind}`),
      ),
      '/v1/external/alerts',
    ];
    return await Promise.all(lists.map((list) => this.#readWhole(list)));
  }

  listMiscounts = () => listMiscounts(this.#api.db);

  async #readWhole(list: string): Promise<Map<string, unknown>> {
    const { status, body } = await this.get(`${list}?limit=200`);
    if (status === 404) return new Map();
    expect(body.data).toHaveLength(body.total);
    return new Map(body.data.map((item: { id: string }) => [item.id, item]));
  }
}

interface Own {
  readonly accountId: string;
  readonly key: string;
  readonly domains: readonly { readonly id: string; readonly name: string }[];
  readonly writers: readonly ChildProcess[];
}

/** What a process wrote before it was killed stays: whole transactions. */
function forgiveKilling(error: unknown): void {
  if (!String(error).includes('The database is broken.')) throw error;
}

async function startWriter(): Promise<ChildProcess> {
  const writer = fork(new URL('./writer-process.ts', import.meta.url));
  onTestFinished(() => void writer.kill());
  await once(writer, 'message');
  return writer;
}

async function write(writer: ChildProcess, work: Work): Promise<void> {
  const done = once(writer, 'message');
  writer.send(work);
  await done;
}

test(`${HISTORIES} random histories: a copy that is kept by the guide's words equals the lists at the end`, async () => {
  const begun = { again: 0, times: 0, asked: 0 };
  const worlds = new Set<World>();
  onTestFinished(async () => {
    for (const world of worlds) await world.end();
  });
  const writers = [await startWriter(), await startWriter()];
  const run = async (steps: readonly Step[]): Promise<void> => {
    const world = await World.begin(writers);
    worlds.add(world);
    for (const taken of steps) await world.take(taken);
    await world.settle();
    for (const copy of world.copies) while (await copy.ask(world.get));
    for (const feed of world.feeds) {
      await feed.finish(world.get, 3);
      expect(feed.begunAgain).toBeLessThanOrEqual(world.restores);
      await feed.hold(world.get, (report) => !isOld(report, world.prunedBefore));
    }
    const [, before] = world.feeds;
    expect(before.met.filter(({ type }) => type.startsWith('tls'))).toEqual([]);
    const lists = await world.readLists();
    for (const [i, { items }] of world.copies.entries())
      expect(withoutOld(items, world.prunedBefore)).toEqual(
        withoutOld(lists[i] ?? new Map(), world.prunedBefore),
      );
    begun.again += world.copies.filter(({ begunAgain }) => begunAgain > 0).length;
    begun.times += world.copies.reduce((sum, { begunAgain }) => sum + begunAgain, 0);
    begun.asked += world.copies.length;
    expect(await world.listMiscounts()).toEqual({});
    worlds.delete(world);
    await world.end();
  };
  const histories = fc.array(step, { minLength: 10, maxLength: 40, size: 'max' });
  const wanted = { numRuns: HISTORIES, endOnFailure: true, seed: SEED };
  await fc.assert(fc.asyncProperty(histories, run), wanted);
  process.stdout.write(`${JSON.stringify({ histories: HISTORIES, ...begun })}\n`);
  if (!IS_CITUS) expect(begun.again).toBeGreaterThan(0);
}, 1_800_000);

/**
 * Without what may have gone by age: nothing tells a client that it went, or came back with a backup from before. A client
 * deletes it by date. Nor does a list tell of new figures of an alert.
 */
function withoutOld(items: ReadonlyMap<string, unknown>, before: string): Map<string, unknown> {
  const known = [...items].filter(([, item]) => !isOld(item, before));
  return new Map(known.map(([id, item]) => [id, { ...(item as object), context: undefined }]));
}

function isOld(item: unknown, before: string): boolean {
  return ((item as { begin_date?: string }).begin_date ?? '~') < before;
}
