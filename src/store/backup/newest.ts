import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { findNewestBackup, toBackupName } from '../../domain/backup-names.ts';
import { DAY_MS, toDay, toInstant } from '../../domain/instant.ts';
import type { Db } from '../engine/database.ts';

/** When the newest backup of a folder was made, in milliseconds since 1970; undefined when there is none. */
export async function findBackupMs(folder: string, except?: string): Promise<number | undefined> {
  const names = await readdir(folder).catch(() => []);
  const newest = findNewestBackup(names.filter((name) => name !== except));
  return newest === undefined ? undefined : (await stat(join(folder, newest))).mtimeMs;
}

const MAX_CLOCK_MS = 3 * DAY_MS;

/**
 * Why the clock may be ahead: of what came in before the clock's present day, and of the backups before today's, the newest is
 * days old. undefined when it is not, and where there is nothing before that day.
 */
export async function findClockFault(db: Db, now: Date, folder?: string) {
  const today = toDay(toInstant(now));
  const earlier = db.selectFrom('document').where('received_at', '<', `${today}T00:00:00Z`);
  const last = earlier.select('received_at').orderBy('seq', 'desc').limit(1);
  const received = (await last.executeTakeFirst())?.received_at;
  const backupMs = folder && (await findBackupMs(folder, toBackupName(today)));
  const lastMs = Math.max(received ? Date.parse(received) : 0, backupMs || 0);
  if (lastMs === 0 || now.getTime() - lastMs <= MAX_CLOCK_MS) return undefined;
  const [says, known] = [now, new Date(lastMs)].map(toInstant);
  return `the clock says ${says}, and the newest report or backup is of ${known}.`;
}
