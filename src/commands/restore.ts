import type { Command } from 'commander';
import { toSqliteError } from '../store/engine/sqlite/errors.ts';
import { requireSqlite } from './backup.ts';
import { warnOfOwner } from './loose-files.ts';
import { type Flags, hint, printResult, tell } from './output/output.ts';

const HELP = `
Stop every process of Plumbline first. The backup is checked before anything changes, and stays as it is. What came in
since it was made is not in it: ingest those reports again. Never remove the file that ends with -wal, also while all is
stopped: it has the newest changes. Clients that follow cursors begin again by themselves.`;

export function define(command: Command): void {
  command
    .option('--force', 'although there is a database: it is kept under another name')
    .addHelpText('after', HELP)
    .action(async (from: string, { force = false, ...output }: Flags<'force'>) => {
      const { file: to } = requireSqlite('Restore PostgreSQL with its own pg_restore.');
      const { restore } = await import('../store/backup/restore.ts');
      const now = () => new Date();
      const restored = await restore({ from, to, force, now }).catch((error) => {
        throw toSqliteError(to, error);
      });
      warnOfOwner(to, (text) => tell(`Warning: ${text}`));
      printResult(restored, [`${to} is what ${from} has.`], output);
      if (restored.kept !== undefined)
        hint(
          `What was there before is ${restored.kept}. Remove it when you do not need it.`,
          output,
        );
    });
}
