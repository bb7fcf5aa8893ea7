import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { SingleBar } from 'cli-progress';
import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { isPostgresUrl, toShownUrl } from '../domain/database-address.ts';
import { toDatabaseError } from '../store/engine/open.ts';
import { MOVE_URL, toPostgresError } from '../store/engine/postgres/errors.ts';
import type { Progress } from '../store/move/move.ts';
import { type Flags, hint, type OutputOptions, printList, printResult } from './output/output.ts';
import { UsageError } from './output/report-error.ts';

const HELP = `
Stop every process of Plumbline first: while the SQLite database is moved, nothing else can open it. A move that is
interrupted leaves it as it was, and begins anew when it is run again.`;

export function define(command: Command): void {
  command
    .option('--cancel', 'let a SQLite database that was moved be used again')
    .addHelpText('after', HELP)
    .action(async (url: string | undefined, { cancel, ...output }: Flags<'cancel'>) => {
      const { database: from } = readConfig(process.env);
      requireFile(from, cancel);
      try {
        if (cancel) await cancelMove(from, url, output);
        else await move(from, requireUrl(url), output);
      } catch (error) {
        throw toDatabaseError(from, toPostgresError(url ?? '', error, MOVE_URL));
      }
    });
}

function requireFile(database: string, isCancel = false): void {
  if (isPostgresUrl(database))
    throw new UsageError(
      isCancel
        ? 'PLUMBLINE_DATABASE names a PostgreSQL database: set it to the SQLite database that was moved.'
        : 'PLUMBLINE_DATABASE names a PostgreSQL database already.',
    );
  if (database === ':memory:')
    throw new UsageError('PLUMBLINE_DATABASE names no file: there is nothing to move.');
}

function requireUrl(url: string | undefined): string {
  if (url !== undefined && isPostgresUrl(url)) return url;
  throw new UsageError('Name the database to move to: postgres://user@host/database');
}

async function cancelMove(
  from: string,
  url: string | undefined,
  options: OutputOptions,
): Promise<void> {
  if (url !== undefined) throw new UsageError('--cancel needs no URL.');
  const { to } = (await import('../store/move/move.ts')).cancelMove(from);
  const text = `${from} can be used again. What ${to} got since the move is not in it.`;
  printResult({ cancelled: to }, [text], options);
}

async function move(from: string, url: string, output: OutputOptions): Promise<void> {
  const { moveDatabase } = await import('../store/move/move.ts');
  const { onProgress, stop } = createBar(output);
  const now = () => new Date();
  // A password that is configured is that of the new database.
  const { databaseOptions, secretsKeyFile: key, backups } = readConfig(process.env);
  const { password } = databaseOptions;
  const tables = await moveDatabase({ from, to: url, password, now, onProgress }).finally(stop);
  const to = toShownUrl(url);
  if (!output.json && !output.quiet) printList(tables, { none: '' }, output);
  const text = `Every row of ${from} is in ${to}, with the same content.`;
  printResult({ from, to, tables }, [text], output);
  if (output.json) return;
  hint('Change the configuration, and then start Plumbline:', output);
  hint(`  PLUMBLINE_DATABASE=${to}`, output);
  if (key?.isMade)
    hint(
      existsSync(key.path)
        ? `  PLUMBLINE_SECRETS_KEY_FILE=${resolve(key.path)}`
        : '  PLUMBLINE_SECRETS_KEY_FILE: make a key, as plumbline help postgresql says.',
      output,
    );
  if (backups)
    hint('  PLUMBLINE_BACKUP_TO: remove it. PostgreSQL is backed up with pg_dump.', output);
  hint(`${from} is not opened any more; keep it until you have a backup of the new one.`, output);
}

/** A bar on standard error, where that is a terminal. */
function createBar({ json, quiet }: OutputOptions) {
  if (json || quiet || !process.stderr.isTTY) return { onProgress: () => {}, stop: () => {} };
  const bar = new SingleBar({
    format: '{bar} {value} of {total} rows, {table}, {duration_formatted}',
  });
  return {
    onProgress: ({ table, rows, total }: Progress) => {
      if (bar.isActive) bar.update(rows, { table });
      else bar.start(total, rows, { table });
    },
    stop: () => bar.stop(),
  };
}
