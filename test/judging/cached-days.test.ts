import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findFacts } from '../../src/alerts/alert-facts.ts';
import { DEFAULT_THRESHOLDS } from '../../src/domain/alerts/thresholds.ts';
import { Failure } from '../../src/domain/failure.ts';
import { readEvidence } from '../../src/judging/evidence.ts';
import { findLastDay, readSource } from '../../src/judging/source.ts';
import { readSources } from '../../src/judging/source-list.ts';
import type { Counted } from '../../src/judging/summed-range.ts';
import { type CountedDays, storeSources } from '../../src/store/days/day-sources.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { aBareAccount, aDomain, aRecord, aReportOf, receive } from '../support/builders.ts';
import { ADDRESSES, NAMES, step, take } from '../support/histories.ts';
import { aStore, storesOfHistories } from '../support/store.ts';

const range = { from: '2025-12-01', to: '2026-02-28' };
const part = { limit: 10, offset: 0 };
type Scope = { accountId: string; domainId: string };

const NOT_FOUND = 'not_found';

/** That the account does not have the domain any more is an answer, too. */
async function orNotFound<T>(read: Promise<T>): Promise<T | typeof NOT_FOUND> {
  return await read.catch((error) => {
    if (error instanceof Failure && error.code === NOT_FOUND) return NOT_FOUND;
    throw error;
  });
}

/** What is read of a domain, by a reader that has kept no sums, and the days that each read has counted. */
async function readAll(store: Store, scope: Scope) {
  const reader = { ...store.reader };
  const query = { scope, range, today: range.to };
  const asked = { domainId: scope.domainId, now: '2026-02-01T12:00:00Z' };
  const ofAccount = [
    await orNotFound<Counted>(readSources(reader, { ...query, ...part })),
    await orNotFound<Counted>(readEvidence({ ...reader }, query)),
  ];
  for (const address of ADDRESSES)
    ofAccount.push(await orNotFound<Counted>(readSource(reader, { ...query, address })));
  const { accountId } = await store.db
    .selectFrom('domain')
    .select('account_id as accountId')
    .where('id', '=', scope.domainId)
    .executeTakeFirstOrThrow();
  const isOwn = accountId === scope.accountId;
  expect(ofAccount.map((read) => read !== NOT_FOUND)).toEqual(ofAccount.map(() => isOwn));
  const reads = [
    ...ofAccount.filter((read) => read !== NOT_FOUND),
    await findLastDay(reader, { scope, address: ADDRESSES[1] as string, today: range.to }),
    await findFacts(reader, {
      ...asked,
      thresholds: { ...DEFAULT_THRESHOLDS, newSourceMessages: 1 },
    }),
  ];
  const counted = reads.flatMap((read) => read.counted ?? []);
  return { counted, answers: reads.map(({ counted: _, ...answer }) => answer) };
}

async function keep({ db }: Store, counted: readonly CountedDays[]): Promise<void> {
  for (const days of counted) await storeSources(db, days);
}

const empty = ({ db }: Store, sources: Uint8Array | null = null) =>
  db.write((tx) => tx.updateTable('domain_day').set({ sources }).execute());

/** Answers are the same after the caches were filled or emptied. */
async function hold(store: Store, scope: Scope, then: string): Promise<void> {
  const { answers, counted } = await readAll(store, scope);
  if (then === 'keep') await keep(store, counted);
  if (then === 'empty') await empty(store);
  expect((await readAll(store, scope)).answers).toEqual(answers);
}

test.each(storesOfHistories({ few: [6, 2, 3], full: [60, 10, 40] }))(
  '$where: whenever caches are emptied in a history, every answer stays as it is',
  async ({ open, count: numRuns }) => {
    const steps = fc.array(fc.tuple(step, fc.constantFrom('keep', 'empty', 'leave')), {
      ...{ minLength: 4, maxLength: 14, size: 'max' as const },
    });
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const store = await open();
        try {
          const scopes: Scope[] = [];
          for (const name of NAMES.slice(0, 2)) {
            const accountId = await aBareAccount(store.db);
            scopes.push({ accountId, domainId: (await aDomain(store.db, accountId, { name })).id });
          }
          for (const [taken, then] of history) {
            await take(store, taken);
            for (const scope of scopes) await hold(store, scope, then);
          }
        } finally {
          await store.close();
        }
      }),
      { numRuns, seed: 40 },
    );
  },
  120_000,
);

const aReportFrom = (sourceIp: string, day: string) =>
  aReportOf([aRecord({ sourceIp, count: 5 })], { begin: `2026-01-${day}T00:00:00Z` });

/** A domain with reports of two days. */
async function twoDays() {
  const store = await aStore();
  const accountId = await aBareAccount(store.db);
  const { id: domainId } = await aDomain(store.db, accountId, { name: 'example.com' });
  await receive(store.db, [aReportFrom('192.0.2.1', '10'), aReportFrom('192.0.2.2', '11')]);
  return { store, scope: { accountId, domainId } };
}

/** How many days had to be counted to read the list. */
async function countCounted(store: Store, scope: Scope): Promise<number> {
  const { counted } = await readSources(
    { ...store.reader },
    { scope, range, today: range.to, ...part },
  );
  return counted?.days.length ?? 0;
}

describe('the sources of days', () => {
  test('are counted once, and again after each change of their day', async () => {
    const { store, scope } = await twoDays();
    expect(await countCounted(store, scope)).toBe(2);
    await keep(store, (await readAll(store, scope)).counted);
    expect(await countCounted(store, scope)).toBe(0);
    await receive(store.db, [aReportFrom('192.0.2.3', '11')]);
    expect(await countCounted(store, scope)).toBe(1);
  });

  test('that an evaluation of alerts has counted are counted once, too', async () => {
    const { store, scope } = await twoDays();
    const thresholds = { ...DEFAULT_THRESHOLDS, newSourceMessages: 1 };
    const query = { domainId: scope.domainId, now: '2026-01-12T06:00:00Z', thresholds };
    const read = async () => (await findFacts({ ...store.reader }, query)).counted as CountedDays;
    const counted = await read();
    expect(counted.days.length).toBeGreaterThan(0);
    await keep(store, [counted]);
    expect((await read()).days).toEqual([]);
  });

  test('stay while reports come that are believed less', async () => {
    const { store, scope } = await twoDays();
    await keep(store, (await readAll(store, scope)).counted);
    const forged = aReportFrom('192.0.2.3', '11');
    await receive(store.db, [forged], '2026-01-12T00:00:00Z', { authenticated: '' });
    const rows = store.db.selectFrom('domain_day').select(['day', 'belief', 'sources']);
    const kept = (await rows.orderBy('day').orderBy('belief').execute()).map(
      ({ sources, ...row }) => ({ ...row, isKept: sources !== null }),
    );
    expect(kept).toEqual([
      { day: '2026-01-10', belief: 'established', isKept: true },
      { day: '2026-01-11', belief: 'established', isKept: true },
      { day: '2026-01-11', belief: 'other', isKept: false },
    ]);
  });

  test('that were counted before a change are not stored', async () => {
    const { store, scope } = await twoDays();
    const { counted } = await readAll(store, scope);
    await receive(store.db, [aReportFrom('192.0.2.3', '11')]);
    await keep(store, counted);
    expect(await countCounted(store, scope)).toBe(2);
  });

  test.each([
    ['empty', Buffer.alloc(0)],
    ['random', randomBytes(200)],
  ])('that are %s bytes are counted again', async (_how, bytes) => {
    const { store, scope } = await twoDays();
    const { answers } = await readAll(store, scope);
    await empty(store, bytes);
    expect(await countCounted(store, scope)).toBe(2);
    expect((await readAll(store, scope)).answers).toEqual(answers);
  });
});
