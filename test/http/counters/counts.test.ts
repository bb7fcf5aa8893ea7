import { describe, expect, test } from 'vitest';
import { Counts } from '../../../src/http/counters/counts.ts';

const WINDOW_MS = 60_000;

function aCount() {
  let now = 1_000;
  const counts = new Counts(WINDOW_MS, () => now);
  const wait = (seconds: number) => {
    now += seconds * 1_000;
  };
  const shared = (totalHits: number, endsInSeconds = 60) =>
    counts.addShared('a', { totalHits, resetTime: new Date(Date.now() + endsInSeconds * 1_000) })
      .totalHits;
  const alone = () => counts.add('a').totalHits;
  return { counts, wait, shared, alone };
}

/** Rounded, because the machine's clock moves on between two readings. */
const secondsLeft = (resetTime: Date | undefined) =>
  Math.round(((resetTime?.getTime() ?? 0) - Date.now()) / 1_000);

describe('counts of this process alone', () => {
  test('are in windows that begin with the first hit, and that later hits do not extend', () => {
    const { counts, wait, alone } = aCount();
    expect([alone(), alone()]).toEqual([1, 2]);
    wait(59);
    expect(secondsLeft(counts.add('a').resetTime)).toBe(1);
    wait(1);
    expect(alone()).toBe(1);
  });

  test('are separate for each client', () => {
    const { counts, alone } = aCount();
    alone();
    expect(counts.add('b').totalHits).toBe(1);
  });

  test('forget a client that made no request for a whole window, and keep all others', () => {
    const { counts, wait } = aCount();
    for (let i = 0; i < 1_000; i++) counts.add(`early-${i}`);
    wait(60);
    counts.add('late');
    expect(counts.size).toBe(1_001);
    wait(60);
    expect(counts.add('late').totalHits).toBe(1);
    expect(counts.size).toBe(1);
  });
});

describe('counts of this process beside those of a shared counter', () => {
  test('begin where the shared counter was, and end with its window', () => {
    const { counts, wait, shared, alone } = aCount();
    shared(40, 30);
    expect([alone(), alone()]).toEqual([41, 42]);
    expect(secondsLeft(counts.add('a').resetTime)).toBe(30);
    wait(30);
    expect(alone()).toBe(1);
  });

  test('are added to what the shared counter says after it has come back, until their window ends', () => {
    const { wait, shared, alone } = aCount();
    shared(40, 30);
    alone();
    alone();
    expect(shared(1)).toBe(3);
    wait(30);
    expect(shared(2)).toBe(2);
  });

  test('are subtracted first, because the shared counter does not know of them', () => {
    const { counts, shared, alone } = aCount();
    alone();
    expect([counts.subtract('a'), counts.subtract('a')]).toEqual([true, false]);
    expect(shared(5)).toBe(5);
    expect(counts.subtract('a')).toBe(false);
  });

  test('do not go below zero', () => {
    const { counts, shared, alone } = aCount();
    shared(1);
    for (let i = 0; i < 3; i++) counts.subtractShared('a');
    expect(alone()).toBe(1);
  });
});
