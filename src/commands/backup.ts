import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { findDatabaseFile } from '../domain/database-address.ts';
import { type Flags, hint, printResult } from './output/output.ts';
import { UsageError } from './output/report-error.ts';

const HELP = `
Everything may go on meanwhile. The copy is checked before it gets its name. PLUMBLINE_BACKUP_TO makes one each day.`;

export function define(command: Command): void {
  command
    .option('--force', 'replace a file of that name')
    .addHelpText('after', HELP)
    .action(async (to: string, { force = false, ...output }: Flags<'force'>) => {
      const { file, secretsKeyFile } = requireSqlite(
        'Back up PostgreSQL with its own pg_dump, or with what its host offers.',
      );
      const { backUp } = await import('../store/backup/backup.ts');
      const others = secretsKeyFile === undefined ? [] : [secretsKeyFile.path];
      const backup = await backUp({ from: file, to, force, others });
      printResult(backup, [`${backup.path} is a backup of ${file}, and is not damaged.`], output);
      if (secretsKeyFile !== undefined)
        hint(
          `The key of second factors and webhooks is not in it: keep a copy of ${secretsKeyFile.path}, where there is one, at another place.`,
          output,
        );
    });
}

/** The file of the configured database. */
export function requireSqlite(otherwise: string) {
  const { database, secretsKeyFile } = readConfig(process.env);
  const file = findDatabaseFile(database);
  if (file === undefined) throw new UsageError(otherwise);
  return { file, secretsKeyFile };
}
