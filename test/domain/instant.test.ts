import { describe, expect, test } from 'vitest';
import { secondsToInstant, toDay, toInstant } from '../../src/domain/instant.ts';

describe('toInstant', () => {
  test.each([
    ['2026-03-15T04:12:09.000Z', '2026-03-15T04:12:09Z'],
    ['2026-03-15T04:12:09.999Z', '2026-03-15T04:12:09Z'],
    ['2026-03-15T23:59:59.999+00:00', '2026-03-15T23:59:59Z'],
    ['2026-03-15T01:00:00+02:00', '2026-03-14T23:00:00Z'],
  ])('%s is %s: UTC, whole seconds, never rounded up', (text, instant) => {
    expect(toInstant(new Date(text))).toBe(instant);
  });
});

describe('secondsToInstant', () => {
  test.each([
    [0, '1970-01-01T00:00:00Z'],
    [951_782_400, '2000-02-29T00:00:00Z'],
    [2_147_483_648, '2038-01-19T03:14:08Z'],
    [253_402_300_799, '9999-12-31T23:59:59Z'],
  ])('%i is %s', (seconds, instant) => {
    expect(secondsToInstant(seconds)).toBe(instant);
  });
});

describe('toDay', () => {
  test.each([
    ['2026-03-14T00:00:00Z', '2026-03-14'],
    ['2026-03-14T23:59:59Z', '2026-03-14'],
  ])('%s falls on %s', (instant, day) => {
    expect(toDay(instant)).toBe(day);
  });
});
