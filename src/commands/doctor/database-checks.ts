import type { Config } from '../../config/config.ts';
import { createSealings } from '../../config/secrets-key.ts';
import { findDatabaseFile, toShownDatabase } from '../../domain/database-address.ts';
import { toSizeText } from '../../domain/size.ts';
import { listAccounts } from '../../store/accounts/accounts.ts';
import { requireKey } from '../../store/accounts/sealed-secrets.ts';
import { findBackupMs } from '../../store/backup/newest.ts';
import { openStore } from '../../store/engine/open.ts';
import { measureDatabase } from '../../store/engine/space.ts';
import type { Store } from '../../store/engine/store.ts';
import { findWriteFault, listDoors, listFailingJobs } from '../../store/inbox/doors.ts';
import { readBacklog } from '../../store/notify/backlog.ts';
import { error, type Finding, ok, warning } from './finding.ts';

const HOUR_MS = 3_600_000;
/** Alerts are evaluated each hour. */
const MAX_EVALUATION_MS = 2 * HOUR_MS;
const MAX_BACKUP_MS = 48 * HOUR_MS;
const LARGE_LOG_BYTES = 1e9;
const LOW_FREE_BYTES = 1e9;

/** Opens the database without migrating it. Throws what keeps it from being used. */
export async function openUnchanged(
  config: Config,
): Promise<{ readonly store: Store; readonly pending: number }> {
  let pending = 0;
  const migrate = async (steps: readonly unknown[]) => {
    pending = steps.length;
  };
  const options = { ...config.databaseOptions, mustExist: true, migrate };
  return { store: await openStore(config.database, options), pending };
}

export async function checkDatabase({ database }: Config, pending: number): Promise<Finding> {
  const file = findDatabaseFile(database);
  const shown = toShownDatabase(database);
  if (file !== undefined) {
    const { findDamage } = await import('../../store/engine/sqlite/database-file.ts');
    const damage = findDamage(file);
    if (damage !== undefined)
      return error(`${shown} is damaged: ${damage}`, 'Restore a backup: plumbline restore.');
  }
  if (pending > 0)
    return error(`${shown} has the schema of an older version.`, 'Run plumbline migrate.');
  return ok(`${shown} can be read and has the schema of this version.`);
}

export async function checkSpace({ database }: Config, { db }: Store): Promise<Finding> {
  const shortage = await db.findShortage();
  if (shortage !== undefined) return error(shortage, 'Make room: until then nothing is taken in.');
  const { bytes = 0, logBytes = 0, freeBytes } = (await measureDatabase(database, db)) ?? {};
  if (logBytes > LARGE_LOG_BYTES)
    return warning(
      `The write-ahead log has ${toSizeText(logBytes)}.`,
      'A process has read for a long time. Stop a backup or a command that does not end.',
    );
  const size = `The database has ${toSizeText(bytes + logBytes)}`;
  if (freeBytes === undefined) return ok(`${size}.`);
  const found = `${size}, its disk ${toSizeText(freeBytes)} free.`;
  return freeBytes < LOW_FREE_BYTES ? warning(found, 'Make room.') : ok(found);
}

export async function checkDoors(_config: Config, { db }: Store): Promise<Finding> {
  const doors = await listDoors(db);
  const fault = await findWriteFault(db);
  if (fault !== undefined) return error(fault, 'Look at its disk and its permissions.');
  const failing = doors.filter((door) => door.fault !== null);
  if (failing.length > 0)
    return error(
      failing.map((door) => `${door.door}: ${door.fault}`).join('; '),
      'Correct that. plumbline inbox doors --forget is for a door that is not configured any more.',
    );
  return ok(doors.length === 0 ? 'No door was ever open.' : `Doors that work: ${doors.length}.`);
}

export async function checkSecrets({ secretsKeyFile }: Config, { db }: Store): Promise<Finding> {
  await requireKey(db, secretsKeyFile && createSealings(secretsKeyFile));
  if (secretsKeyFile) return ok('The key reads what is encrypted.');
  const cure = 'Second factors and webhooks need one: set PLUMBLINE_SECRETS_KEY_FILE, and restart.';
  return warning('There is no key.', cure);
}

export async function checkWork(_config: Config, { db }: Store): Promise<Finding> {
  const failing = [...(await listFailingJobs(db))].map(([job, why]) => `${job} fails: ${why}`);
  if (failing.length > 0) return error(failing.join('; '), 'The log names the setting.');
  const unfinished = (await listAccounts(db)).find((account) => account.deletion_command !== null);
  if (unfinished?.deletion_command)
    return warning(
      `The deletion of “${unfinished.name}” was interrupted.`,
      `End it: ${unfinished.deletion_command}`,
    );
  const { mails, oldestEvaluationMs } = await readBacklog(db);
  const start = 'Start plumbline work, or plumbline serve without --only api.';
  if (oldestEvaluationMs === undefined) return warning('No process has done the work yet.', start);
  if (oldestEvaluationMs > MAX_EVALUATION_MS)
    return error(
      `Alerts were not evaluated for ${Math.round(oldestEvaluationMs / HOUR_MS)} hours.`,
      start,
    );
  const stuck = `${mails.stuck} mails are stuck.`;
  if (mails.stuck > 0) return warning(stuck, 'plumbline inbox list --state stuck says why.');
  return ok(`Alerts are evaluated. ${mails.waiting} mails wait to be read.`);
}

export async function checkBackup({ database, backups }: Config): Promise<Finding> {
  if (findDatabaseFile(database) === undefined)
    return ok('Plumbline makes no backup of PostgreSQL: that is left to its own programs.');
  const advice = 'The log of serve or work says why: look for “backup”.';
  if (backups === undefined)
    return warning('No backup is made each day.', 'Name a folder: PLUMBLINE_BACKUP_TO.');
  const madeMs = await findBackupMs(backups.folder);
  if (madeMs === undefined) return warning(`${backups.folder} has no backup.`, advice);
  const found = `The newest backup is of ${new Date(madeMs).toISOString().slice(0, 16)}Z.`;
  return Date.now() - madeMs > MAX_BACKUP_MS ? error(found, advice) : ok(found);
}
