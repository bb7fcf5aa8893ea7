import { fork } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { IS_DMARC } from '../../src/store/days/believed.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { isOfDomain } from '../../src/store/lists/heads.ts';
import { parseItems, readPage } from '../../src/store/lists/page.ts';
import { reportsOfAccount } from '../../src/store/reports/reports.ts';
import { tlsReportsOf } from '../../src/store/reports/tls-reports.ts';
import { aBareAccount, aDomain } from '../support/builders.ts';
import { caseCount } from '../support/counts.ts';
import { FeedClient } from '../support/feed-client.ts';
import { NAMES, type Step, step, take, takeBeside } from '../support/histories.ts';
import type { History } from '../support/history-process.ts';
import { holdPages } from '../support/pages.ts';
import { listMiscounts } from '../support/recount.ts';
import { holdSources } from '../support/recount-sources.ts';
import { aDatabase, storesOfHistories } from '../support/store.ts';

type Lists = Map<string, { readonly version: string; readonly shown: string }>;

/** The listed rows as text, and the version of the list. */
async function readVersions(db: Db): Promise<Lists> {
  const lists: Lists = new Map();
  const domains = await db.selectFrom('domain').selectAll().orderBy('id').execute();
  for (const { id, reports_version: version } of domains) {
    const reports = db.selectFrom('report').where(isOfDomain(id)).orderBy('seq').where(IS_DMARC);
    const rows = await reports.select(['id', 'total_messages', 'aligned_messages']).execute();
    lists.set(`reports ${id}`, { version, shown: JSON.stringify(rows) });
  }
  for (const { id, domains_version: version } of await db
    .selectFrom('account')
    .selectAll()
    .execute()) {
    const own = domains.filter((one) => one.account_id === id && one.status === 'active');
    const shown = JSON.stringify(own.map((domain) => [domain.id, domain.last_report_at]));
    lists.set(`domains ${id}`, { version, shown });
  }
  return lists;
}

/**
 * A version changes when, and only when, the list does. A correction may change when a domain's last report came, and
 * change it back.
 */
function holdVersions(before: Lists, after: Lists, { kind }: Step): void {
  for (const [list, { version, shown }] of before) {
    const now = after.get(list);
    const isChanged = now?.shown !== shown;
    if (isChanged || list.startsWith('reports'))
      expect(now?.version !== version, `version of ${list} after ${kind}`).toBe(isChanged);
  }
}

/** Two accounts with a domain each, and a client of each. */
async function addAccounts({ db, reader }: Store): Promise<FeedClient[]> {
  const clients: FeedClient[] = [];
  for (const name of NAMES.slice(0, 2)) {
    const accountId = await aBareAccount(db);
    await aDomain(db, accountId, { name });
    clients.push(new FeedClient(reader, accountId, 3));
  }
  return clients;
}

async function listIds(db: Db): Promise<Set<string>> {
  const rows = await db.selectFrom('report').select('id').execute();
  return new Set(rows.map(({ id }) => id));
}

function forget(clients: readonly FeedClient[], gone: ReadonlySet<string>): void {
  for (const { reports, tlsReports } of clients)
    for (const id of gone) for (const list of [reports, tlsReports]) list.delete(id);
}

/** Who has followed an account has what its lists have. */
async function holdClient({ db, reader }: Store, client: FeedClient): Promise<void> {
  await client.follow();
  const whole = await readPage(reader, reportsOfAccount(client.accountId), WHOLE);
  expect(byId([...client.reports.values()])).toEqual(byId(parseItems(whole)));
  const active = db.selectFrom('domain').select('id').where('status', '=', 'active');
  const domains = await active.where('account_id', '=', client.accountId).execute();
  expect(client.domains).toEqual(new Set(domains.map(({ id }) => id)));
  const tls = [];
  for (const { id: domainId } of domains) {
    const list = tlsReportsOf({ accountId: client.accountId, domainId });
    tls.push(...parseItems(await readPage(reader, list, WHOLE)));
  }
  expect(byId([...client.tlsReports.values()])).toEqual(byId(tls));
}

const WHOLE = { limit: 1_000, offset: 0 };

const byId = <Item extends { readonly id: string }>(items: readonly Item[]) =>
  items.toSorted((a, b) => (a.id < b.id ? -1 : 1));

/** After it, every count and every version is right. */
async function takeHeld(store: Store, taken: Step, clients: readonly FeedClient[]): Promise<void> {
  const { db } = store;
  const [before, stored] = [await readVersions(db), await listIds(db)];
  await take(store, taken);
  // Nobody is told of reports that go by age.
  if (taken.kind === 'prune') forget(clients, stored.difference(await listIds(db)));
  // Another account's list of a domain is another list.
  if (taken.kind !== 'join' && taken.kind !== 'leave')
    holdVersions(before, await readVersions(db), taken);
  expect(await listMiscounts(db)).toEqual({});
}

test.each(storesOfHistories({ few: [8, 2, 4], full: [30, 6, 20] }))(
  '$where: whatever is received, corrected, removed, paused and moved, every count and every client’s copy matches the rows',
  async ({ open, count: numRuns }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20, size: 'max' }), async (steps) => {
        const store = await open();
        try {
          const clients = await addAccounts(store);
          for (const [i, taken] of steps.entries()) {
            await takeHeld(store, taken, clients);
            if (i % 3 === 0) await clients[i % clients.length]?.follow();
          }
          await holdSources(store.db);
          await holdPages(store);
          for (const client of clients) await holdClient(store, client);
        } finally {
          await store.close();
        }
      }),
      { numRuns },
    );
  },
  120_000,
);

const HISTORIES = caseCount({ few: 4, full: 20 });
const steps = fc.array(step, { minLength: 5, maxLength: 30, size: 'max' });

/** A process for all histories, because starting one takes longer than a history. Returns what has it take steps. */
function startOther(): (history: History) => Promise<unknown> {
  const module = new URL('../support/history-process.ts', import.meta.url);
  const other = fork(module, { serialization: 'advanced' });
  const died = once(other, 'exit').then(() => Promise.reject(new Error('The other has ended.')));
  died.catch(() => undefined);
  onTestFinished(() => other.disconnect());
  return (history) => {
    other.send(history);
    return Promise.race([once(other, 'message'), died]);
  };
}

/** Both take their steps at the same time. */
async function takeTogether(
  tellOther: ReturnType<typeof startOther>,
  database: string,
  [own, others]: readonly [readonly Step[], readonly Step[]],
): Promise<void> {
  const store = await openStore(database);
  try {
    const clients = await addAccounts(store);
    const takeOwn = async () => {
      for (const taken of own) {
        await takeBeside(store, taken);
      }
    };
    await Promise.all([tellOther({ database, steps: others }), takeOwn()]);
    expect(await listMiscounts(store.db)).toEqual({});
    await holdSources(store.db);
    await holdPages(store);
    for (const client of clients) await holdClient(store, client);
  } finally {
    await store.close();
  }
}

test('whatever two processes do so at once, every count and every copy matches the rows', async () => {
  const tellOther = startOther();
  await fc.assert(
    // The order of the two differs from run to run, so a smaller history would say nothing.
    fc.asyncProperty(steps, steps, async (own, others) =>
      takeTogether(tellOther, await aDatabase(), [own, others]),
    ),
    { numRuns: HISTORIES, endOnFailure: true },
  );
});
