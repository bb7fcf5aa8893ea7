import type { Logger } from 'pino';
import { describeSystemError } from '../domain/system-error.ts';
import type { Db } from '../store/engine/database.ts';
import { noteDoor } from '../store/inbox/doors.ts';

/** The variable that decides whether a job can run. Every other job needs the database alone. */
const SETTINGS: Readonly<Record<string, string>> = {
  backup: 'PLUMBLINE_BACKUP_TO',
  dns: 'PLUMBLINE_DNS_SERVERS',
  mail: 'PLUMBLINE_MAIL_SERVER',
  outbox: 'PLUMBLINE_SECRETS_KEY_FILE',
  retention: 'PLUMBLINE_KEEP_REPORTS_DAYS',
};

/** Each process has these: one in which it works must not hide one in which it fails. */
const OF_EACH = ['outbox', 'mail'];

/**
 * Returns what is told how each run of a job ended: it logs one line when a job begins to fail or fails in another way, and
 * notes for other processes whether it works.
 */
export function createNoteRun(db: Db, log: Pick<Logger, 'error'>) {
  const known = new Map<string, string>();
  return async (job: string, fault?: unknown): Promise<void> => {
    const why = describe(fault);
    const isNew = why !== known.get(job);
    if (!(why || isNew) && OF_EACH.includes(job)) return;
    known.set(job, why);
    // An error with a code is no defect, and needs no stack.
    const err = 'code' in Object(fault) ? undefined : fault;
    const setting = SETTINGS[job] ?? 'PLUMBLINE_DATABASE';
    if (why && isNew) log.error({ job, setting, err }, `the job ${job} fails (${setting}): ${why}`);
    // While the database is away, others see that themselves.
    await noteDoor(db, `job:${job}`, why || undefined).catch(() => undefined);
  };
}

function describe(fault: unknown): string {
  const { message = '', path, syscall } = (fault ?? {}) as Partial<NodeJS.ErrnoException>;
  return syscall === undefined ? message : `${path ?? syscall}: ${describeSystemError(fault)}`;
}
