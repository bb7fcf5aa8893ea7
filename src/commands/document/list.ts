import { type Command, InvalidArgumentError, Option } from 'commander';
import type { RefusalReason } from '../../domain/reports/refusal.ts';
import {
  type DocumentFilter,
  type DocumentId,
  type ListedDocument,
  listDocuments,
  parseDocumentId,
} from '../../store/reports/document-list.ts';
import { parseDay, parseWhole } from '../arguments.ts';
import { type OutputOptions, printList, toShortTime } from '../output/output.ts';
import { UsageError } from '../output/report-error.ts';
import { withStore } from '../with-store.ts';

const DEFAULT_LIMIT = 100;

/** The reasons of rejections, as a table has them. JSON and options have the codes. */
const REASON_TEXTS: Readonly<Record<RefusalReason, string>> = {
  empty: 'empty',
  no_report: 'no report in it',
  not_aggregate: 'not an aggregate report',
  bad_archive: 'damaged archive',
  too_deep: 'too many containers',
  too_large: 'too large',
  bad_xml: 'broken XML',
  doctype_forbidden: 'has a DOCTYPE',
  missing_dates: 'no dates',
  missing_domain: 'no domain',
  bad_field: 'a value is not valid',
  count_too_large: 'too many messages',
  window_in_future: 'from the future',
  too_old: 'older than reports are kept',
  too_costly: 'takes too long to read',
  reader_failed: 'the reader failed',
  unreadable: 'not readable',
};

const REASONS = Object.keys(REASON_TEXTS) as readonly RefusalReason[];

interface ListOptions extends OutputOptions, DocumentFilter {
  readonly limit: number;
}

export function addList(document: Command): void {
  const list = document
    .command('list')
    .description('List rejected documents and conflicts, newest first.');
  addFilters(list)
    .option('--limit <documents>', 'how many documents', parseWhole(9_999), DEFAULT_LIMIT)
    .action(async (options: ListOptions) => {
      requireMatching(options);
      const found = await withStore(({ db }) => listDocuments(db, options));
      const none = 'There are no rejected documents and no conflicts.';
      printList(found, { none, toColumns }, options);
    });
}

export function addFilters(command: Command): Command {
  return command
    .addOption(new Option('--outcome <outcome>', 'only these').choices(['rejected', 'conflict']))
    .addOption(new Option('--reason <reason>', 'only rejections for this reason').choices(REASONS))
    .option('--since <day>', 'received on this UTC day or later', parseDay);
}

export function requireMatching({ outcome, reason }: DocumentFilter): void {
  if (outcome === 'conflict' && reason !== undefined)
    throw new UsageError('Only rejections have a reason.');
}

/** The outcome is in the id. The folders of an input are in its details. */
function toColumns({ id, received_at, reason, domain, authenticated, ...rest }: ListedDocument) {
  const { input, member } = rest;
  const file = input.slice(input.lastIndexOf('/') + 1);
  return {
    id,
    'received (UTC)': toShortTime(received_at),
    'reason or domain': reason === null ? domain : toReasonText(reason),
    sender: authenticated === '' ? 'not authenticated' : authenticated,
    file: member === null ? file : `${file} > ${member}`,
  };
}

/** A database can have reasons of older versions: they stay codes. */
function toReasonText(reason: string): string {
  return (REASON_TEXTS as Readonly<Record<string, string>>)[reason] ?? reason;
}

export function parseId(text: string): DocumentId {
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
