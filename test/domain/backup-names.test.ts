import { expect, test } from 'vitest';
import { listExpiredBackups, toBackupName } from '../../src/domain/backup-names.ts';

const DAY_MS = 86_400_000;

/** A backup of each of so many days, the newest of 2026-03-15, a Sunday. */
const daily = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    toBackupName(new Date(Date.parse('2026-03-15') - i * DAY_MS).toISOString().slice(0, 10)),
  );

const stay = (names: readonly string[], kept: Parameters<typeof listExpiredBackups>[1]) => {
  const expired = listExpiredBackups(names, kept);
  return names.filter((name) => !expired.includes(name)).map((name) => name.slice(10, 20));
};

test('the newest of each of the last days, weeks and months stay', () => {
  expect(stay(daily(400), { days: 3, weeks: 3, months: 4 })).toEqual([
    '2026-03-15',
    '2026-03-14',
    '2026-03-13',
    // Sundays.
    '2026-03-08',
    '2026-03-01',
    // Ends of months.
    '2026-02-28',
    '2026-01-31',
    '2025-12-31',
  ]);
});

test('periods without a backup do not count, so a machine that was off keeps its last ones', () => {
  const names = ['2026-03-15', '2025-01-02', '2024-06-01', '2024-05-31'].map(toBackupName);
  expect(stay(names, { days: 2, weeks: 0, months: 0 })).toEqual(['2026-03-15', '2025-01-02']);
  expect(stay(names, { days: 0, weeks: 0, months: 9 })).toHaveLength(4);
});

test('other files of the folder are never named', () => {
  const names = [...daily(3), 'plumbline.db', 'plumbline-2026-03-15.db.part', 'notes.txt'];
  expect(listExpiredBackups(names, { days: 1, weeks: 0, months: 0 })).toEqual([
    'plumbline-2026-03-14.db',
    'plumbline-2026-03-13.db',
  ]);
});
