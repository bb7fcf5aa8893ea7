import { type Command, InvalidArgumentError, Option } from 'commander';
import { REFUSAL_TEXTS } from '../../domain/reports/refusal.ts';
import {
  type DocumentFilter,
  type DocumentId,
  LISTED_OUTCOMES,
  type ListedDocument,
  listDocuments,
  parseDocumentId,
} from '../../store/reports/document-list.ts';
import { parseDay, parseWhole } from '../arguments.ts';
import { type OutputOptions, printList, toShortTime } from '../output/output.ts';
import { UsageError } from '../output/report-error.ts';
import { withStore } from '../with-store.ts';

const DEFAULT_LIMIT = 100;

export function addList(document: Command): void {
  const list = document
    .command('list')
    .description('List rejected documents, conflicts and repeated reports, newest first.');
  addFilters(list)
    .option('--limit <documents>', 'how many documents', parseWhole(9_999), DEFAULT_LIMIT)
    .action(async (options: OutputOptions & DocumentFilter & { readonly limit: number }) => {
      requireMatching(options);
      const found = await withStore(({ db }) => listDocuments(db, options));
      const none = 'There are no rejected documents, conflicts or repeated reports.';
      printList(found, { none, toColumns }, options);
    });
}

export function addFilters(command: Command): Command {
  const reasons = Object.keys(REFUSAL_TEXTS);
  return command
    .addOption(new Option('--outcome <outcome>', 'only these').choices(LISTED_OUTCOMES))
    .addOption(new Option('--reason <reason>', 'only rejections for this reason').choices(reasons))
    .option('--since <day>', 'received on this UTC day or later', parseDay);
}

export function requireMatching({ outcome = 'rejected', reason }: DocumentFilter): void {
  if (outcome !== 'rejected' && reason !== undefined)
    throw new UsageError('Only rejections have a reason.');
}

/** The outcome is in the id. The folders of an input are in its details. */
function toColumns({ id, received_at, reason, domain, ...rest }: ListedDocument) {
  const { input, member } = rest;
  const file = input.slice(input.lastIndexOf('/') + 1);
  return {
    id,
    'received (UTC)': toShortTime(received_at),
    // A database can have reasons of older versions: they stay codes.
    'reason or domain':
      reason === null ? domain : ((REFUSAL_TEXTS as Record<string, string>)[reason] ?? reason),
    sender: describeSender(rest),
    file: member === null ? file : `${file} > ${member}`,
  };
}

function describeSender({ authenticated, doubt }: Pick<ListedDocument, 'authenticated' | 'doubt'>) {
  if (doubt === 'unproven') return 'not authenticated';
  return doubt === null ? authenticated : `${doubt} ${authenticated}`;
}

export function requireDocumentId(text: string): DocumentId {
  const id = parseDocumentId(text);
  if (id === undefined)
    throw new InvalidArgumentError('It is a report’s id, conflict-<number> or rejection-<number>.');
  return id;
}

export function parseConflict(text: string): number {
  const id = parseDocumentId(text);
  if (id?.kind !== 'conflict') throw new InvalidArgumentError('It is conflict-<number>.');
  return id.seq;
}
