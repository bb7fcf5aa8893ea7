import { lstatSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { SingleBar } from 'cli-progress';
import type { Command } from 'commander';
import { type IngestedDocument, type InputToRead, ingest } from '../intake/ingest.ts';
import { listFiles, readFile, readInput } from '../intake/inputs/files.ts';
import { createInputParser } from '../intake/parser/input-parser.ts';
import { lowerPriority } from '../intake/parser/priority.ts';
import { findDomainIds } from '../store/accounts/domains.ts';
import type { Store } from '../store/engine/open.ts';
import { evaluateNow } from './alerts.ts';
import { printOutcomes, type Summary } from './output/outcomes.ts';
import { hint, type OutputOptions, tell } from './output/output.ts';
import { withNewStore } from './with-store.ts';

const STANDARD_INPUT = '-';

const STATUS_HELP = `
Files stay where they are. Exit status: 0 when everything was dealt with, also when something was rejected (1 with
--strict); 1 when a path could not be read or something failed; 2 for a wrong command line or configuration.`;

interface IngestOptions extends OutputOptions {
  readonly strict?: boolean;
}

export function defineIngest(command: Command): void {
  command
    .option('--strict', 'end with status 1 when a document was rejected')
    .addHelpText('after', STATUS_HELP)
    .action(async (paths: string[], options: IngestOptions) => {
      const { counts, unreadable } = await withNewStore(options, (store) =>
        ingestPaths(store, paths, options),
      );
      if (counts.documents === 0)
        hint(
          `There is nothing to read in ${paths.join(', ')}. In folders, hidden files and symbolic links are left out.`,
          options,
        );
      if (unreadable > 0 || (options.strict && counts.rejected > 0)) process.exitCode = 1;
      if (options.strict && options.quiet) tellRejected(counts.rejected - unreadable);
    });
}

/** Why `--strict` ends with status 1, where the table is not printed. What is unreadable was told before. */
function tellRejected(count: number): void {
  if (count > 0)
    tell(`Documents that were rejected: ${count}. plumbline document list --outcome rejected`);
}

async function ingestPaths(
  store: Store,
  paths: readonly string[],
  options: OutputOptions,
): Promise<Summary> {
  lowerPriority();
  const parser = createInputParser();
  try {
    const inputs = await withProgress(paths, options);
    const given = { db: store.db, now: () => new Date(), parser };
    return await printAndEvaluate(store, ingest(given, inputs), { options, paths });
  } finally {
    await parser.close();
  }
}

interface Printing {
  readonly options: OutputOptions;
  readonly paths: readonly string[];
}

/** Prints what becomes of the documents, and evaluates the alerts of the domains that have new reports. */
export async function printAndEvaluate(
  store: Store,
  documents: AsyncIterable<IngestedDocument>,
  { options, paths }: Printing,
): Promise<Summary> {
  const names = new Set<string>();
  const noted = noteStored(documents, names);
  const summary = await printOutcomes(noted, options, (document) => toShownName(document, paths));
  await evaluateNow(store, await findDomainIds(store.db, [...names]));
  return summary;
}

/** Yields the documents unchanged, and records which domains have new reports. */
async function* noteStored(
  documents: AsyncIterable<IngestedDocument>,
  names: Set<string>,
): AsyncGenerator<IngestedDocument> {
  for await (const document of documents) {
    const { outcome, report } = document;
    if (outcome === 'stored' && report !== null) names.add(report.policyPublished.domain);
    yield document;
  }
}

/**
 * In a folder that was given alone, files are named relative to it. A path that could not be read is shown as
 * it was tried, because npm starts the command in another folder.
 */
function toShownName(
  { input, refusal }: IngestedDocument,
  [folder, ...others]: readonly string[],
): string {
  const isPath = folder !== undefined && input !== STANDARD_INPUT;
  if (isPath && refusal?.reason === 'unreadable') return resolve(input);
  const isAlone = folder !== undefined && others.length === 0;
  const isFolder = isAlone && lstatSync(folder, { throwIfNoEntry: false })?.isDirectory();
  return isFolder ? relative(folder, input) || input : input;
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
