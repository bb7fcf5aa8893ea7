import { SingleBar } from 'cli-progress';
import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { toFirstKept } from '../domain/retention.ts';
import { type InputToRead, ingest } from '../intake/ingest.ts';
import { listFiles, readFile, readInput } from '../intake/inputs/files.ts';
import { createParserProcess } from '../intake/parser/parser-process.ts';
import { lowerPriority } from '../intake/parser/priority.ts';
import { type Db, requireSpace } from '../store/engine/database.ts';
import type { Store } from '../store/engine/store.ts';
import { printAndEvaluate, STANDARD_INPUT } from './output/outcomes.ts';
import { type Flags, hint, type OutputOptions, tell } from './output/output.ts';
import { withNewStore } from './with-store.ts';

const STATUS_HELP = `
Files stay where they are. Exit status: 0 when everything was dealt with, also when something was rejected (1 with
--strict); 1 when a path could not be read or something failed; 2 for a wrong command line or configuration.`;

export function define(command: Command): void {
  command
    .option('--strict', 'end with status 1 when a document was rejected')
    .addHelpText('after', STATUS_HELP)
    .action(async (paths: string[], options: Flags<'strict'>) => {
      const { counts, unreadable } = await withNewStore({ ...options, isPatient: true }, (store) =>
        ingestPaths(store, paths, options),
      );
      if (counts.documents === 0)
        hint(
          `There is nothing to read in ${paths.join(', ')}. In folders, hidden files and symbolic links are left out.`,
          options,
        );
      if (unreadable > 0 || (options.strict && counts.rejected > 0)) process.exitCode = 1;
      // Says why the status is 1 when no table is printed. Unreadable inputs were printed before.
      const rejected = counts.rejected - unreadable;
      if (options.strict && options.quiet && rejected > 0)
        tell(
          `Documents that were rejected: ${rejected}. plumbline document list --outcome rejected`,
        );
    });
}

async function ingestPaths(store: Store, paths: readonly string[], options: OutputOptions) {
  lowerPriority();
  const parser = createParserProcess();
  try {
    const inputs = await withProgress(paths, options);
    const { kept } = readConfig(process.env);
    const now = () => new Date();
    const keptFrom = () => toFirstKept(now(), kept.reportsDays);
    const deps = { db: store.db, now, parser, keptFrom };
    const documents = ingest(deps, whileSpace(store.db, inputs));
    return await printAndEvaluate(store, documents, { options, paths });
  } finally {
    await parser.close();
  }
}

async function* whileSpace(
  db: Db,
  inputs: AsyncIterable<InputToRead>,
): AsyncGenerator<InputToRead> {
  for await (const input of inputs) {
    await requireSpace(db);
    yield input;
  }
}

/** The inputs at the paths. On a terminal, a bar on standard error shows the progress of reading. */
async function withProgress(
  paths: readonly string[],
  { json, quiet }: OutputOptions,
): Promise<AsyncGenerator<InputToRead>> {
  if (json || quiet || !process.stderr.isTTY) return listInputs(paths);
  const total = await Array.fromAsync(listInputs(paths)).then((inputs) => inputs.length);
  return showProgress(listInputs(paths), total);
}

async function* showProgress(
  inputs: AsyncIterable<InputToRead>,
  total: number,
): AsyncGenerator<InputToRead> {
  const bar = new SingleBar({ format: '{bar} {value} of {total} files, {duration_formatted}' });
  bar.start(total, 0);
  for await (const input of inputs) {
    yield input;
    bar.increment();
  }
  bar.stop();
}

async function* listInputs(paths: readonly string[]): AsyncGenerator<InputToRead> {
  for (const path of paths) {
    if (path === STANDARD_INPUT) {
      yield { name: path, read: () => readInput(path, process.stdin) };
      continue;
    }
    for await (const file of listFiles([path])) yield { name: file, read: () => readFile(file) };
  }
}
