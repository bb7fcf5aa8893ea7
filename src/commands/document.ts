import { Argument, type Command, Option } from 'commander';
import type { DocumentId } from '../store/documents/document-list.ts';
import { evaluateNow } from './alerts.ts';
import { type Corrected, prefer, remove } from './document/correct.ts';
import { addList, parseConflict, parseId } from './document/list.ts';
import { type RereadDeps, withParser } from './document/read-again.ts';
import { addReread } from './document/reread.ts';
import { showDocument, writeOriginal } from './document/show.ts';
import { type OutputOptions, printOne, printText, tell } from './output/output.ts';

const PREFER_HELP = `
The report keeps its id and its place in the list. Counts, days, source addresses and alerts follow. The content
that stood becomes the conflict, under the same number: preferring it again undoes the change.`;

const REMOVE_HELP = `
A report with conflicts is replaced by its oldest conflict, as if that had been preferred. To take out all
contents of a report, remove its conflicts first. A report or a conflict that was removed is not stored again
when it comes in again: ingest says "removed". A rejection is listed again when its input is read again.
The original bytes are kept in any case.`;

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
      const toSentence = ({ report }: Corrected) =>
        `Preferred ${id}: report ${report} has its content now.`;
      await correct({ id, toSentence, work: (deps) => prefer(deps, seq) }, options);
    });

  document
    .command('remove')
    .addArgument(new Argument('<id>', 'a report, conflict or rejection').argParser(parseId))
    .description('Remove a report, a conflict or a rejection.')
    .addHelpText('after', REMOVE_HELP)
    .action(async (document: DocumentId, options: OutputOptions) => {
      const id = document.kind === 'report' ? document.id : `${document.kind}-${document.seq}`;
      const toSentence = ({ report }: Corrected, replaced: string | null) => {
        if (id !== report) return `Removed ${id}.`;
        const next = replaced === null ? '' : ` The content of ${replaced} takes its place.`;
        return `Removed report ${id}.${next}`;
      };
      await correct({ id, toSentence, work: (deps) => remove(deps, document) }, options);
    });
}

function addShow(document: Command): void {
  document
    .command('show')
    .addArgument(new Argument('<id>', 'a report, conflict or rejection').argParser(parseId))
    .description('Show a report or a rejection, or both contents of a conflict side by side.')
    .addOption(
      new Option('--original', 'write the original bytes to standard output').conflicts('json'),
    )
    .action(async (id: DocumentId, options: { original?: boolean } & OutputOptions) => {
      if (options.original) await writeOriginal(id);
      else await showDocument(id, options);
    });
}

interface Correction {
  readonly id: string;
  readonly work: (deps: RereadDeps) => Promise<Corrected>;
  readonly toSentence: (corrected: Corrected, replaced: string | null) => string;
}

async function correct(
  { id, work, toSentence }: Correction,
  options: OutputOptions,
): Promise<void> {
  const { corrected, alerts } = await withParser(async (deps) => {
    const corrected = await work(deps);
    const domainIds = corrected.domainId === null ? [] : [corrected.domainId];
    return { corrected, alerts: await evaluateNow(deps.store, domainIds) };
  });
  const { report, replacedBy, unread } = corrected;
  const replaced = replacedBy === null ? null : `conflict-${replacedBy}`;
  const { fired, resolved } = alerts;
  if (!options.json) printText([toSentence(corrected, replaced)]);
  printOne({ id, report, replaced_by: replaced, fired, resolved }, options);
  if (unread !== null)
    tell(
      `The report could not be read, so each source address of its day lost as many messages as the report had: ${unread}`,
    );
}
