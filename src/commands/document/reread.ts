import { Argument, type Command } from 'commander';
import { readConfig } from '../../config/config.ts';
import { toFirstKept } from '../../domain/retention.ts';
import { createParserProcess } from '../../intake/parser/parser-process.ts';
import type { Db } from '../../store/engine/database.ts';
import {
  type DocumentFilter,
  type DocumentId,
  findDocumentSeq,
  listDocumentSeqs,
} from '../../store/reports/document-list.ts';
import { parseEach } from '../arguments.ts';
import { printAndEvaluate } from '../output/outcomes.ts';
import { type Flags, hint } from '../output/output.ts';
import { UsageError } from '../output/report-error.ts';
import { withStore } from '../with-store.ts';
import { addFilters, requireDocumentId, requireMatching } from './list.ts';
import { rereadDocuments } from './read-documents.ts';

const HELP = `
Without ids, the documents are chosen by --outcome, --reason and --since, or all rejections and conflicts with
--all. A rejection that can be read now becomes a report, received when its input was; the reason of any other is brought up to date. Reports that are stored stay as they are. The command
can be ended and run again: nothing is counted twice. With --json it prints one object a line for each document, and a
last line {"summary": …}, as ingest does.`;

type RereadOptions = Flags<'all'> & DocumentFilter;

export function addReread(document: Command): void {
  const reread = document
    .command('reread')
    .addArgument(
      new Argument('[id...]', 'reports, conflicts or rejections').argParser(
        parseEach(requireDocumentId),
      ),
    )
    .description('Read stored originals again, with the parser of this version.');
  addFilters(reread)
    .option('--all', 'all rejections and conflicts')
    .addHelpText('after', HELP)
    .action(async (ids: readonly DocumentId[], options: RereadOptions) => {
      requireChoice(ids, options);
      const parser = createParserProcess();
      const reading = withStore(async (store) => {
        const { db } = store;
        const seqs = ids.length === 0 ? listDocumentSeqs(db, options) : findEach(db, ids);
        const { kept } = readConfig(process.env);
        const keptFrom = () => toFirstKept(new Date(), kept.reportsDays);
        const documents = rereadDocuments({ db, parser, keptFrom }, seqs);
        return await printAndEvaluate(store, documents, { options, paths: [] });
      });
      const { counts, unreadable } = await reading.finally(() => parser.close());
      if (counts.documents === 0) hint('There is nothing to read again.', options);
      if (unreadable > 0) process.exitCode = 1;
    });
}

function requireChoice(ids: readonly DocumentId[], options: RereadOptions): void {
  const { all, outcome, reason, since } = options;
  const isFiltered = [all, outcome, reason, since].some((option) => option !== undefined);
  if (ids.length > 0 === isFiltered)
    throw new UsageError(
      'Give the ids of documents, or else --outcome, --reason, --since or --all.',
    );
  requireMatching(options);
}

async function* findEach(db: Db, ids: readonly DocumentId[]): AsyncGenerator<number> {
  const seqs = new Set<number>();
  for (const id of ids) seqs.add(await findDocumentSeq(db, id));
  yield* seqs;
}
