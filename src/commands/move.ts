import { SingleBar } from 'cli-progress';
import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { isPostgresUrl, toShownUrl } from '../domain/database-address.ts';
import { toDatabaseError } from '../store/engine/database-error.ts';
import type { MovedRows, MoveOptions, Progress } from '../store/move/move.ts';
import { hint, type OutputOptions, printJson, printList, printText } from './output/output.ts';
import { UsageError } from './output/usage-error.ts';

const HELP = `
Stop every process that writes first: from the beginning of the move, the SQLite database can only be read. A move that
was interrupted goes on when it is run again with the same URL. At the end, every row of both databases is compared.`;

interface Options extends OutputOptions {
  readonly cancel?: boolean;
}

export function defineMove(command: Command): void {
  command
    .option('--cancel', 'give up a move that is not finished: SQLite can be written to again')
    .addHelpText('after', HELP)
    .action(async (url: string | undefined, options: Options) => {
      const source = findSource();
      if (options.cancel) await cancel(source.from, url, options);
      else await move(source, url, options);
    });
}

type Source = Pick<MoveOptions, 'from' | 'password'>;

/** The configured database. A password that is configured is that of the target. */
function findSource(): Source {
  const { database, databaseOptions } = readConfig(process.env);
  if (isPostgresUrl(database))
    throw new UsageError('PLUMBLINE_DATABASE names a PostgreSQL database already.');
  if (database === ':memory:')
    throw new UsageError('PLUMBLINE_DATABASE names no file: there is nothing to move.');
  return { from: database, password: databaseOptions.password };
}

async function cancel(from: string, url: string | undefined, options: Options): Promise<void> {
  if (url !== undefined) throw new UsageError('--cancel needs no URL.');
  const { cancelMove } = await import('../store/move/move.ts');
  const { to } = await cancelMove(from);
  if (options.json) printJson({ cancelled: to });
  else
    printText([`The move is given up: ${from} can be written to again. Drop the database ${to}.`]);
}

async function move(source: Source, url: string | undefined, options: Options): Promise<void> {
  if (url === undefined || !isPostgresUrl(url))
    throw new UsageError('Name the database to move to: postgres://user@host/database');
  const tables = await run({ ...source, to: url }, options);
  const { from } = source;
  const to = toShownUrl(url);
  if (options.json) printJson({ from, to, tables: tables ?? null });
  else print(from, to, { tables, options });
}

async function run(
  wanted: Pick<MoveOptions, 'from' | 'to' | 'password'>,
  options: OutputOptions,
): Promise<MovedRows[] | undefined> {
  const { moveDatabase } = await import('../store/move/move.ts');
  const bar = createBar(options);
  const { onProgress } = bar;
  try {
    return await moveDatabase({ ...wanted, now: () => new Date(), onProgress });
  } catch (error) {
    throw toDatabaseError(wanted.from, await toTargetError(wanted.to, error));
  } finally {
    bar.stop();
  }
}

async function toTargetError(to: string, error: unknown): Promise<unknown> {
  const { toPostgresError } = await import('../store/engine/postgres/postgres-error.ts');
  return toPostgresError(to, error, 'the URL of the move');
}

/** On a terminal, a bar on standard error for copying, and then one for comparing. */
function createBar({ json, quiet }: OutputOptions) {
  if (json || quiet || !process.stderr.isTTY) return { onProgress: () => {}, stop: () => {} };
  const bar = new SingleBar({
    format: '{step} {bar} {value} of {total} rows, {duration_formatted}',
  });
  let step: Progress['step'] | undefined;
  const onProgress = (progress: Progress) => {
    if (step !== progress.step) {
      bar.stop();
      bar.start(progress.total, 0, { step: progress.step });
      step = progress.step;
    }
    bar.update(progress.rows);
  };
  return { onProgress, stop: () => bar.stop() };
}

interface Moved {
  readonly tables: readonly MovedRows[] | undefined;
  readonly options: OutputOptions;
}

function print(from: string, to: string, { tables, options }: Moved): void {
  if (tables === undefined) {
    printText([`${from} was moved to ${to} before.`]);
    return;
  }
  if (!options.quiet) {
    const toColumns = ({ table, rows, checksum }: MovedRows) => ({
      table,
      rows,
      'checksum (SHA-256)': checksum.slice(0, 16),
    });
    printList(
      tables.map((row) => ({ ...row })),
      { none: '', toColumns: toColumns as never },
      options,
    );
  }
  printText([`Every row of ${from} is in ${to}, with the same content.`]);
  hint(
    `Set PLUMBLINE_DATABASE to the new database and start Plumbline. ${from} is not opened any more; keep it until you ` +
      'have a backup of the new one.',
    options,
  );
}
