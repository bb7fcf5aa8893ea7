import { fork } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { Db } from '../../src/store/engine/database.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { aBareAccount, aDomain } from '../support/builders.ts';
import { caseCount } from '../support/counts.ts';
import { NAMES, type Step, step, take, takeBeside } from '../support/histories.ts';
import type { History } from '../support/history-process.ts';
import { holdPages } from '../support/pages.ts';
import { listMiscounts } from '../support/recount.ts';
import { holdSources } from '../support/recount-sources.ts';
import { aDatabase, storesOfHistories } from '../support/store.ts';

/** The listed rows as text, and the version of the list. */
async function readVersions(db: Db): Promise<Map<string, { version: string; shown: string }>> {
  const lists = new Map<string, { version: string; shown: string }>();
  const domains = await db.selectFrom('domain').selectAll().orderBy('id').execute();
  for (const { id, reports_version: version } of domains) {
    const reports = db.selectFrom('report').where('domain_id', '=', id).orderBy('seq');
    const rows = await reports.select(['id', 'total_messages', 'aligned_messages']).execute();
    lists.set(`reports ${id}`, { version, shown: JSON.stringify(rows) });
  }
  for (const { id, domains_version: version } of await db
    .selectFrom('account')
    .selectAll()
    .execute()) {
    const own = domains.filter(({ account_id }) => account_id === id);
    const shown = JSON.stringify(own.map((domain) => [domain.id, domain.last_report_at]));
    lists.set(`domains ${id}`, { version, shown });
  }
  return lists;
}

test.each(storesOfHistories({ few: [8, 2, 4], full: [60, 10, 40] }))(
  '$where: whatever is received, preferred and removed, every count matches the rows',
  async ({ open, count: numRuns }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20, size: 'max' }), async (steps) => {
        const store = await open();
        const { db } = store;
        try {
          for (const name of NAMES.slice(0, 2)) await aDomain(db, await aBareAccount(db), { name });
          let before = await readVersions(db);
          for (const taken of steps) {
            await take(store, taken);
            const after = await readVersions(db);
            for (const [list, { version, shown }] of before) {
              const now = after.get(list);
              const what = `version of ${list} after ${taken.kind}`;
              expect(now?.version !== version, what).toBe(now?.shown !== shown);
            }
            before = after;
            expect(await listMiscounts(db)).toEqual({});
          }
          await holdSources(db);
          await holdPages(store);
        } finally {
          await store.close();
        }
      }),
      { numRuns },
    );
  },
  120_000,
);

const HISTORIES = caseCount({ few: 4, full: 40 });
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
    for (const name of NAMES.slice(0, 2))
      await aDomain(store.db, await aBareAccount(store.db), { name });
    const takeOwn = async () => {
      for (const taken of own) {
        await takeBeside(store, taken);
      }
    };
    await Promise.all([tellOther({ database, steps: others }), takeOwn()]);
    expect(await listMiscounts(store.db)).toEqual({});
    await holdSources(store.db);
    await holdPages(store);
  } finally {
    await store.close();
  }
}

test('whatever two processes receive, prefer and remove at once, every count matches the stored records', async () => {
  const tellOther = startOther();
  await fc.assert(
    // The order of the two differs from run to run, so a smaller history would say nothing.
    fc.asyncProperty(steps, steps, async (own, others) =>
      takeTogether(tellOther, await aDatabase(), [own, others]),
    ),
    { numRuns: HISTORIES, endOnFailure: true },
  );
}, 240_000);
