import { isAbsolute } from 'node:path';
import type { BackupsKept } from '../domain/backup-names.ts';
import { findDatabaseFile } from '../domain/database-address.ts';
import type { Environment } from './environment.ts';
import { parsed } from './variable.ts';

const KEPT: BackupsKept = { days: 7, weeks: 4, months: 12 };

const VARIABLES = {
  folder: parsed(
    'PLUMBLINE_BACKUP_TO',
    (path) => (isAbsolute(path) ? path : undefined),
    'must be the absolute path of a folder',
  ),
  kept: parsed('PLUMBLINE_BACKUP_KEEP', parseKept, 'must be days, weeks and months, like 7,4,12'),
};

/** Where a backup of each day goes; undefined for none. */
export function readBackups(environment: Environment, database: string) {
  const { folder, kept = KEPT } = environment.read(VARIABLES);
  environment.refuse(
    folder !== undefined && findDatabaseFile(database) === undefined,
    'PLUMBLINE_BACKUP_TO: is only for a SQLite database. Back up PostgreSQL with pg_dump',
  );
  return folder === undefined ? undefined : { folder, kept };
}

function parseKept(text: string): BackupsKept | undefined {
  if (!/^\d{1,4},\d{1,4},\d{1,4}$/.test(text)) return undefined;
  const [days = 0, weeks = 0, months = 0] = text.split(',').map(Number);
  return days + weeks + months > 0 ? { days, weeks, months } : undefined;
}
