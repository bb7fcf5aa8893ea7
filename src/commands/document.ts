import { Argument, type Command, Option } from 'commander';
import { toInstant } from '../domain/instant.ts';
import type { Db } from '../store/engine/database.ts';
import {
  type Corrected,
  preferConflict,
  removeConflict,
  removeRejection,
  removeReport,
} from '../store/reports/corrections.ts';
import type { DocumentId } from '../store/reports/document-list.ts';
import { evaluateNow } from './alerts.ts';
import { addList, parseConflict, requireDocumentId } from './document/list.ts';
import { addReread } from './document/reread.ts';
import { showDocument, writeOriginal } from './document/show.ts';
import { type Flags, type OutputOptions, printOne, printText } from './output/output.ts';
import { withStore } from './with-store.ts';

const PREFER_HELP = `
The report keeps its id, and comes last among the reports of its domain that begin at the same time. Counts, days,
source addresses and alerts follow. The content that stood becomes the conflict, under the same number: preferring it again undoes the change.`;

const REMOVE_HELP = `
A report with conflicts is replaced by its oldest conflict, as if that had been preferred. To take out all
contents of a report, remove its conflicts first. A report or a conflict that was removed is not stored again
when it comes in again: ingest says "removed". A rejection is listed again when its input is read again.
The original bytes are deleted with it, and no command brings them back.`;

export function define(document: Command): void {
  addList(document);
  addShow(document);
  addReread(document);

  document
    .command('prefer')
    .addArgument(new Argument('<conflict-id>', 'as listed').argParser(parseConflict))
    .description('Replace a report’s content by that of a conflict.')
    .addHelpText('after', PREFER_HELP)
    .action(async (seq: number, options: OutputOptions) => {
      const id = `conflict-${seq}`;
      const toSentence = (report: string | null) =>
        `Preferred ${id}: report ${report} has its content now.`;
      await correct({ id, toSentence, work: (db) => preferConflict(db, seq) }, options);
    });

  document
    .command('remove')
    .addArgument(
      new Argument('<id>', 'a report, conflict or rejection').argParser(requireDocumentId),
    )
    .description('Remove a report, a conflict or a rejection.')
    .addHelpText('after', REMOVE_HELP)
    .action(async (document: DocumentId, options: OutputOptions) => {
      const id = document.kind === 'report' ? document.id : `${document.kind}-${document.seq}`;
      const toSentence = (report: string | null, replaced: string | null) => {
        if (id !== report) return `Removed ${id}.`;
        const next = replaced === null ? '' : ` The content of ${replaced} takes its place.`;
        return `Removed report ${id}.${next}`;
      };
      await correct({ id, toSentence, work: (db) => remove(db, document) }, options);
    });
}

function addShow(document: Command): void {
  document
    .command('show')
    .addArgument(
      new Argument('<id>', 'a report, conflict or rejection').argParser(requireDocumentId),
    )
    .description('Show a report or a rejection, or both contents of a conflict side by side.')
    .addOption(
      new Option('--original', 'write the original bytes to standard output').conflicts('json'),
    )
    .action(async (id: DocumentId, options: Flags<'original'>) => {
      if (options.original) await writeOriginal(id);
      else await showDocument(id, options);
    });
}

interface Correction {
  readonly id: string;
  /** Returns nothing when it changed no report. */
  readonly work: (db: Db) => Promise<Corrected | undefined>;
  readonly toSentence: (report: string | null, replaced: string | null) => string;
}

async function remove(db: Db, id: DocumentId): Promise<Corrected | undefined> {
  const now = toInstant(new Date());
  if (id.kind === 'report') return await removeReport(db, id.id, now);
  if (id.kind === 'conflict') return await removeConflict(db, id.seq);
  await removeRejection(db, id.seq);
  return undefined;
}

async function correct(
  { id, work, toSentence }: Correction,
  options: OutputOptions,
): Promise<void> {
  const { corrected, alerts } = await withStore(async (store) => {
    const corrected = await work(store.db);
    const domainIds = corrected === undefined ? [] : [corrected.domainId];
    return { corrected, alerts: await evaluateNow(store, domainIds) };
  });
  const { report = null, replacedBy = null } = corrected ?? {};
  const replaced = replacedBy === null ? null : `conflict-${replacedBy}`;
  const { fired, resolved } = alerts;
  if (!options.json) printText([toSentence(report, replaced)]);
  printOne({ id, report, replaced_by: replaced, fired, resolved }, options);
}
