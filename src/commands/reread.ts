import { Argument, type Command } from 'commander';
import { Failure } from '../domain/failure.ts';
import { Refusal, type RefusalReason } from '../domain/refusal.ts';
import { type IngestedDocument, ingest, type SourceToRead } from '../intake/ingest.ts';
import type { Db } from '../store/connection/database.ts';
import type { DocumentId } from '../store/reports/document-list.ts';
import { readOriginal } from '../store/reports/originals.ts';
import {
  deleteOtherRejections,
  findSourceOf,
  listSources,
  type StoredSource,
} from '../store/reports/sources.ts';
import { parseId } from './document-id.ts';
import { addFilters, type FilterOptions, requireMatching } from './document-list.ts';
import { printAndEvaluate } from './ingest.ts';
import { hint, type OutputOptions } from './output.ts';
import { type Given, withReader } from './read-again.ts';

const HELP = `
Without ids, the documents are chosen by --outcome, --reason and --since, or all rejections and conflicts with
--all. A source is read again as a whole. A rejection that can be read now becomes a report, received when its
source was; the reason of any other is brought up to date. Reports that are stored stay as they are. The command
can be ended and run again: nothing is counted twice.`;

interface RereadOptions extends OutputOptions, FilterOptions {
  readonly all?: boolean;
}

export function addReread(document: Command): void {
  const reread = document
    .command('reread')
    .addArgument(new Argument('[id...]', 'reports, conflicts or rejections').argParser(collectIds))
    .description('Read stored originals again, with the parser of this version.');
  addFilters(reread)
    .option('--all', 'all rejections and conflicts')
    .addHelpText('after', HELP)
    .action(async (ids: readonly DocumentId[], options: RereadOptions) => {
      requireChoice(ids, options);
      const { counts, unreadable } = await withReader((given) => {
        const { db } = given.store;
        const sources = ids.length === 0 ? listSources(db, options) : findEach(db, ids);
        return printAndEvaluate(given.store, readEach(given, sources), { options, paths: [] });
      });
      if (counts.documents === 0) hint('There is nothing to read again.', options);
      if (unreadable > 0) process.exitCode = 1;
    });
}

/** commander passes the ids so far; undefined for the first one. */
function collectIds(text: string, ids: readonly DocumentId[] = []): readonly DocumentId[] {
  return [...ids, parseId(text)];
}

function requireChoice(ids: readonly DocumentId[], options: RereadOptions): void {
  const { all, outcome, reason, since } = options;
  const isFiltered = [all, outcome, reason, since].some((option) => option !== undefined);
  if (ids.length > 0 === isFiltered)
    throw new Failure(
      'validation_error',
      'Give the ids of documents, or else --outcome, --reason, --since or --all.',
    );
  requireMatching(options);
}

/** The sources of some documents, each once. */
async function* findEach(db: Db, ids: readonly DocumentId[]): AsyncGenerator<StoredSource> {
  const found = new Map<number, StoredSource>();
  for (const id of ids) {
    const source = await findSourceOf(db, id);
    found.set(source.seq, source);
  }
  yield* found.values();
}

async function* readEach(
  given: Given,
  sources: AsyncIterable<StoredSource>,
): AsyncGenerator<IngestedDocument> {
  for await (const source of sources) yield* readSource(given, source);
}

/** Reasons for which the rest of a source was not read, so that nothing is known of it. */
const CUT_SHORT: ReadonlySet<RefusalReason> = new Set([
  'unreadable',
  'too_large',
  'too_costly',
  'reader_failed',
]);

/** Reads a source as when it came in, at the time when it came in. */
async function* readSource(
  { store: { db }, documentReader }: Given,
  source: StoredSource,
): AsyncGenerator<IngestedDocument> {
  const receivedAt = new Date(source.receivedAt);
  const given = { db, now: () => receivedAt, documentReader };
  const rejected = new Set<number>();
  let [ordinal, isWhole] = [0, true];
  for await (const document of ingest(given, toSourceToRead(db, source))) {
    const { outcome, refusal } = document;
    if (outcome === 'rejected') rejected.add(ordinal);
    if (refusal !== null && CUT_SHORT.has(refusal.reason)) isWhole = false;
    ordinal += 1;
    yield document;
  }
  if (isWhole) await deleteOtherRejections(db, source.seq, rejected);
}

async function* toSourceToRead(db: Db, { seq, name }: StoredSource): AsyncGenerator<SourceToRead> {
  const read = () =>
    readOriginal(db, seq).catch((error: unknown) => {
      if (error instanceof Failure) throw new Refusal('unreadable', error.message);
      throw error;
    });
  yield { name, read };
}
