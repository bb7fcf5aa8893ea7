import { Gauge, Registry } from 'prom-client';
import type { Config } from '../config/config.ts';
import { findBackupMs } from '../store/backup/newest.ts';
import { countRejections } from '../store/documents/rejections.ts';
import type { Db } from '../store/engine/database.ts';
import { measureDatabase } from '../store/engine/space.ts';
import { listFailingJobs, readFailing } from '../store/inbox/doors.ts';
import { readBacklog } from '../store/notify/backlog.ts';

/** A door that nobody has ever configured does not fail. */
const NO_DOORS = ['smtp', 'imap', 'folder'].map((door) => [door, false] as const);

/** A job that is not configured does not fail. */
const JOBS =
  'alerts dns tls senders names listing unclaimed retention events changes outbox mail backup';

export type WatchedConfig = Pick<Config, 'database' | 'backups'>;

/** What the database is like, whichever processes brought it about: the text of its metrics. */
export async function readState({ database, backups }: WatchedConfig, db: Db): Promise<string> {
  const failing = new Map([...NO_DOORS, ...(await readFailing(db))]);
  const doors = [...failing].map(([door, isFailing]) => [door, Number(isFailing)] as const);
  const { openAlerts, mails, ...ages } = await readBacklog(db);
  const failingJobs = await listFailingJobs(db);
  const jobs = JOBS.split(' ').map((job) => [job, Number(failingJobs.has(job))] as const);
  const size = await measureDatabase(database, db);
  // 0 for none: no alarm can be about what is absent.
  const backupMs = backups && ((await findBackupMs(backups.folder)) ?? 0);
  return await toText([
    ['alerts_open', 'Open alerts.', byLabel('type', openAlerts)],
    ['unread_mails', 'Mails and files to be read.', byLabel('state', Object.entries(mails))],
    [
      'rejected_documents',
      'Rejected documents.',
      byLabel('reason', [['none_found', 0], ...(await countRejections(db))]),
    ],
    ['doors_failing', 'Whether a door fails.', byLabel('door', doors)],
    ['job_failing', 'Whether a job fails or cannot run.', byLabel('job', jobs)],
    ['oldest_unread_mail_age_seconds', 'How long a mail has waited.', inSeconds(ages.oldestMailMs)],
    [
      'oldest_due_delivery_age_seconds',
      'How long a delivery that is due has waited.',
      inSeconds(ages.oldestDeliveryMs),
    ],
    [
      'oldest_evaluation_age_seconds',
      'Since the alerts of every domain were evaluated.',
      inSeconds(ages.oldestEvaluationMs),
    ],
    ['database_bytes', 'The size of the database.', one(size?.bytes)],
    ['database_log_bytes', "The size of SQLite's write-ahead log.", one(size?.logBytes)],
    ['disk_free_bytes', 'Free space of the disk of SQLite.', one(size?.freeBytes)],
    ['last_backup_timestamp_seconds', 'When the newest backup was made.', inSeconds(backupMs)],
  ]);
}

interface Value {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What has no value is left out: 0 would be one. */
const one = (value: number | undefined): Value[] =>
  value === undefined ? [] : [{ labels: {}, value }];

const inSeconds = (ms: number | undefined): Value[] => one(ms && ms / 1000);

const byLabel = (label: string, values: readonly (readonly [string, number])[]): Value[] =>
  values.map(([text, value]) => ({ labels: { [label]: text }, value }));

function toText(
  metrics: readonly (readonly [name: string, help: string, values: readonly Value[]])[],
): Promise<string> {
  const registry = new Registry();
  for (const [name, help, values] of metrics) {
    const labelNames = Object.keys(values[0]?.labels ?? {});
    if (values.length === 0) continue;
    const gauge = new Gauge({ registers: [registry], name: `plumbline_${name}`, help, labelNames });
    for (const { labels, value } of values) gauge.set(labels, value);
  }
  return registry.metrics();
}
