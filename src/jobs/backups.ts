import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { type BackupsKept, listExpiredBackups, toBackupName } from '../domain/backup-names.ts';
import { toDay, toInstant } from '../domain/instant.ts';
import type { NoteGone } from '../store/work/gone.ts';
import type { Running } from '../store/work/running.ts';
import { logGone } from './deleting.ts';
import { type LeasedDeps, startSingleJob } from './leased-job.ts';

/** How often a process looks whether the backup of the day is there, after a failure too: a copy may be dear. */
const CHECK_MS = 300_000;

interface BackupsOptions {
  /** The path of a SQLite database. */
  readonly database: string;
  readonly folder: string;
  readonly kept: BackupsKept;
  readonly now: () => Date;
}

export function startBackups(
  options: BackupsOptions,
  { log, ...deps }: LeasedDeps & { readonly log: Logger },
): Running {
  const about = { job: 'backup', why: 'backups that are kept no longer were deleted' };
  const run = logGone(log, { ...about, kept: options.kept }, async (_, noteGone) => {
    await backUpOfDay(options, noteGone);
    return true;
  });
  const job = { name: 'backup', everyMs: CHECK_MS, isFirstAtOnce: true };
  return startSingleJob({ ...job, run }, deps);
}

/**
 * Makes the backup of the day unless it is there, and then removes those that are kept no longer.
 * @internal Tests call it.
 */
export async function backUpOfDay(
  { database, folder, kept, now }: BackupsOptions,
  noteGone?: NoteGone,
): Promise<void> {
  const name = toBackupName(toDay(toInstant(now())));
  const names = await readdir(folder);
  if (names.includes(name)) return;
  const workerData = { from: database, to: join(folder, name) };
  await once(new Worker(new URL('./backup-thread.ts', import.meta.url), { workerData }), 'exit');
  for (const expired of listExpiredBackups([...names, name], kept)) {
    await rm(join(folder, expired));
    noteGone?.('backups', 1);
  }
}
