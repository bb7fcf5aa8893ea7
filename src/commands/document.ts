import { Argument, type Command, Option } from 'commander';
import type { DocumentId } from '../store/documents/document-list.ts';
import { evaluateNow } from './alerts.ts';
import { type Corrected, prefer, remove } from './document/correct.ts';
import { addList, parseConflict, parseId } from './document/list.ts';
import { type RereadDeps, withReader } from './document/read-again.ts';
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
      const work = (deps: RereadDeps) => prefer(deps, seq);
      await correct({ id: `conflict-${seq}`, verb: 'Preferred', work }, options);
    });

  document
    .command('remove')
    .addArgument(new Argument('<id>', 'a report, conflict or rejection').argParser(parseId))
    .description('Remove a report, a conflict or a rejection.')
    .addHelpText('after', REMOVE_HELP)
    .action(async (id: DocumentId, options: OutputOptions) => {
      const work = (deps: RereadDeps) => remove(deps, id);
      await correct({ id: toText(id), verb: 'Removed', work }, options);
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
  readonly verb: 'Preferred' | 'Removed';
  readonly work: (deps: RereadDeps) => Promise<Corrected>;
}

/** Corrects, evaluates the domain's alerts as after an ingest, and prints the result. */
async function correct({ id, verb, work }: Correction, options: OutputOptions): Promise<void> {
  const { corrected, alerts } = await withReader(async (deps) => {
    const corrected = await work(deps);
    const domainIds = corrected.domainId === null ? [] : [corrected.domainId];
    return { corrected, alerts: await evaluateNow(deps.store, domainIds) };
  });
  const { report, replacedBy, unread } = corrected;
  const replaced = replacedBy === null ? null : `conflict-${replacedBy}`;
  const { fired, resolved } = alerts;
  if (!options.json) printText([toSentence({ id, verb, report, replaced })]);
  printOne({ id, report, replaced_by: replaced, fired, resolved }, options);
  if (unread !== null)
    tell(
      `The report could not be read, so each source address of its day lost as many messages as the report had: ${unread}`,
    );
}

interface Done extends Pick<Correction, 'id' | 'verb'> {
  readonly report: string | null;
  readonly replaced: string | null;
}

function toSentence({ id, verb, report, replaced }: Done): string {
  if (verb === 'Preferred') return `Preferred ${id}: report ${report} has its content now.`;
  if (id !== report) return `Removed ${id}.`;
  const next = replaced === null ? '' : ` The content of ${replaced} takes its place.`;
  return `Removed report ${id}.${next}`;
}

function toText(id: DocumentId): string {
  return id.kind === 'report' ? id.id : `${id.kind}-${id.seq}`;
}
