import { expect, test } from 'vitest';
import { coverRange, type PeriodState } from '../../../src/domain/sources/periods.ts';

const statesOf = (...summed: string[]) =>
  new Map(summed.map((period): [string, PeriodState] => [period, 'summed']));

test.each([
  ['the last day that has a text', '9999-12-31', '9999-12-31', [], { days: ['9999-12-31'] }],
  [
    'a leap February',
    '2024-02-28',
    '2024-03-01',
    ['2024-02'],
    { days: ['2024-02-28', '2024-02-29', '2024-03-01'] },
  ],
  [
    'the turn of a year',
    '2025-12-31',
    '2026-01-10',
    ['2025-12-2', '2026-01-0', '2026-Q1'],
    { days: ['2025-12-31', '2026-01-10'], periods: ['2026-01-0'] },
  ],
])('a range is covered: %s', (_of, from, to, summed, wanted) => {
  expect(coverRange({ from, to }, statesOf(...summed))).toEqual({ periods: [], ...wanted });
});
