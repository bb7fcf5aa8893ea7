import { type Day, toMonday } from './instant.ts';

/** How many backups stay: of the last days, weeks and months that have one, the newest of each. */
export interface BackupsKept {
  readonly days: number;
  readonly weeks: number;
  readonly months: number;
}

const NAME = /^plumbline-(\d{4}-\d{2}-\d{2})\.db$/;

export function toBackupName(day: Day): string {
  return `plumbline-${day}.db`;
}

export const isBackupName = (name: string): boolean => NAME.test(name);

/** The names of backups that are kept no longer. Any other file of the folder is not one of them. */
export function listExpiredBackups(names: readonly string[], kept: BackupsKept): string[] {
  const days = listDays(names);
  const stay = new Set([
    ...listNewest(days, kept.days, (day) => day),
    ...listNewest(days, kept.weeks, toMonday),
    ...listNewest(days, kept.months, (day) => day.slice(0, 7)),
  ]);
  return days.filter((day) => !stay.has(day)).map(toBackupName);
}

/** The name of the newest backup among a folder's files. */
export function findNewestBackup(names: readonly string[]): string | undefined {
  const [newest] = listDays(names);
  return newest && toBackupName(newest);
}

/** The newest first. */
function listDays(names: readonly string[]): Day[] {
  const days = names.map((name) => NAME.exec(name)?.[1]).filter((day) => day !== undefined);
  return days.sort().reverse();
}

/** The newest day of each of the newest `count` periods. `days` begin with the newest. */
function listNewest(days: readonly Day[], count: number, toPeriod: (day: Day) => string): Day[] {
  const newest = new Map<string, Day>();
  for (const day of days) if (!newest.has(toPeriod(day))) newest.set(toPeriod(day), day);
  return [...newest.values()].slice(0, count);
}
