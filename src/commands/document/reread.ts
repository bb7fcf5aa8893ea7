import { Argument, type Command, Option } from 'commander';
import { type DocumentId, listInputs } from '../../store/documents/document-list.ts';
import { findInputOf } from '../../store/documents/stored-document.ts';
import type { Db } from '../../store/engine/database.ts';
import type { StoredInput } from '../../store/inputs/inputs.ts';
import { countUndetailed, listUndetailedInputs } from '../../store/sources/days/undetailed.ts';
import { printAndEvaluate } from '../ingest.ts';
import { hint, type OutputOptions, printOne, tell } from '../output/output.ts';
import { UsageError } from '../output/usage-error.ts';
import { parseId } from './document-id.ts';
import { addFilters, type FilterOptions, requireMatching } from './document-list.ts';
import { withReader } from './read-again.ts';
import { readDetails } from './read-details.ts';
import { readInputs } from './read-inputs.ts';

const HELP = `
Without ids, the documents are chosen by --outcome, --reason and --since, or all rejections and conflicts with
--all. An input is read again as a whole. A rejection that can be read now becomes a report, received when its
input was; the reason of any other is brought up to date. Reports that are stored stay as they are. The command
can be ended and run again: nothing is counted twice.

With --sources, the reports that were stored before Plumbline kept details of source addresses get them, also while
reports come in. When it is ended and run again, it goes on with the reports that have none.`;

interface RereadOptions extends OutputOptions, FilterOptions {
  readonly all?: boolean;
  readonly sources?: boolean;
}

export function addReread(document: Command): void {
  const reread = document
    .command('reread')
    .addArgument(new Argument('[id...]', 'reports, conflicts or rejections').argParser(collectIds))
    .description('Read stored originals again, with the parser of this version.');
  addFilters(reread)
    .option('--all', 'all rejections and conflicts')
    .addOption(
      new Option('--sources', 'details of source addresses, for reports without them').conflicts([
        'all',
        'outcome',
        'reason',
      ]),
    )
    .addHelpText('after', HELP)
    .action(async (ids: readonly DocumentId[], options: RereadOptions) => {
      requireChoice(ids, options);
      if (options.sources) return await rereadDetails(options);
      const { counts, unreadable } = await withReader((given) => {
        const { db } = given.store;
        const inputs = ids.length === 0 ? listInputs(db, options) : findEach(db, ids);
        return printAndEvaluate(given.store, readInputs(given, inputs), { options, paths: [] });
      });
      if (counts.documents === 0) hint('There is nothing to read again.', options);
      if (unreadable > 0) process.exitCode = 1;
    });
}

/** Adds details of source addresses to the reports that have none. */
async function rereadDetails(options: RereadOptions): Promise<void> {
  const done = await withReader(async (given) => {
    const { db } = given.store;
    const counts = { inputs: 0, reports: 0, unreadable: 0 };
    for await (const read of readDetails(given, listUndetailedInputs(db, options.since))) {
      counts.inputs += 1;
      counts.reports += read.reports;
      if (read.problem === null) continue;
      counts.unreadable += 1;
      tell(`${read.input}: ${read.problem}`);
    }
    return { ...counts, reports_left: await countUndetailed(db) };
  });
  printOne(done, options);
  if (done.unreadable > 0) process.exitCode = 1;
}

/** commander passes the ids so far; undefined for the first one. */
function collectIds(text: string, ids: readonly DocumentId[] = []): readonly DocumentId[] {
  return [...ids, parseId(text)];
}

function requireChoice(ids: readonly DocumentId[], options: RereadOptions): void {
  const { all, outcome, reason, since, sources } = options;
  const isFiltered = [all, outcome, reason, since, sources].some((option) => option !== undefined);
  if (ids.length > 0 === isFiltered)
    throw new UsageError(
      'Give the ids of documents, or else --outcome, --reason, --since, --all or --sources.',
    );
  requireMatching(options);
}

/** The inputs of some documents, each once. */
async function* findEach(db: Db, ids: readonly DocumentId[]): AsyncGenerator<StoredInput> {
  const found = new Map<number, StoredInput>();
  for (const id of ids) {
    const input = await findInputOf(db, id);
    found.set(input.seq, input);
  }
  yield* found.values();
}
