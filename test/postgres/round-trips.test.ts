import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { aReport, receive } from '../support/builders.ts';
import { listMiscounts } from '../support/recount.ts';
import { aStore } from '../support/store.ts';

/** Counts how often a connection of this process begins to wait for the server. */
function countRoundTrips(): () => number {
  let trips = 0;
  const waiting = new WeakMap<object, number>();
  const { query } = pg.Client.prototype;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(async function (
    this: object,
    ...asked: never
  ) {
    const before = waiting.get(this) ?? 0;
    if (before === 0) trips += 1;
    waiting.set(this, before + 1);
    try {
      return await (query as (...asked: never) => unknown).apply(this, asked);
    } finally {
      waiting.set(this, (waiting.get(this) ?? 1) - 1);
    }
  } as never);
  onTestFinished(() => spy.mockRestore());
  return () => trips;
}

/** Details are looked at after 32 reports of one day. */
function toBegin(report: number): string {
  return `2026-03-1${report % 4}T00:00:00Z`;
}

test('a transaction of intake waits for PostgreSQL as often for 60 domains as for one', async () => {
  const { db } = await aStore();
  const trips = countRoundTrips();
  /** The round trips of one transaction. */
  const store = async (toDomain: (report: number) => string) => {
    const before = trips();
    await receive(
      db,
      Array.from({ length: 60 }, (_, i) => aReport({ domain: toDomain(i), begin: toBegin(i) })),
    );
    return trips() - before;
  };
  const ofOne = await store(() => 'one.example');
  expect(await store((i) => `d${i}.example`)).toBe(ofOne);
  // Begin, locks, removals, new domains (3), known reports, documents, reports and counts, commit.
  expect(ofOne).toBe(10);
  // Domains with many reports have transactions of their own.
  expect(await store((i) => `many${i % 2}.example`)).toBe(2 * ofOne);
  expect(await listMiscounts(db)).toEqual({});
});
