import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Instant, isDay } from '../../domain/instant.ts';
import { type ListedDocument, listDocuments } from '../../store/documents/document-list.ts';
import { type OutputOptions, printList } from '../output/output.ts';
import { REASONS, toReasonWords } from '../output/reason-words.ts';
import { toShortTime } from '../output/short-time.ts';
import { UsageError } from '../output/usage-error.ts';
import { withStore } from '../with-store.ts';

const DEFAULT_LIMIT = 100;

/** Which documents a command is about. */
export interface FilterOptions {
  readonly outcome?: 'rejected' | 'conflict';
  readonly reason?: string;
  readonly since?: Instant;
}

interface ListOptions extends OutputOptions, FilterOptions {
  readonly limit: number;
}

export function addDocumentList(document: Command): void {
  const list = document
    .command('list')
    .description('List rejected documents and conflicts, newest first.');
  addFilters(list)
    .option('--limit <documents>', 'how many documents', parseLimit, DEFAULT_LIMIT)
    .action(async (options: ListOptions) => {
      requireMatching(options);
      const found = await withStore(({ db }) => listDocuments(db, options));
      const rows = found.map((row) => ({ ...row }));
      const none = 'There are no rejected documents and no conflicts.';
      printList(rows, { none, toColumns }, options);
    });
}

/** The options that choose documents by outcome, reason and day. */
export function addFilters(command: Command): Command {
  return command
    .addOption(new Option('--outcome <outcome>', 'only these').choices(['rejected', 'conflict']))
    .addOption(new Option('--reason <reason>', 'only rejections for this reason').choices(REASONS))
    .option('--since <day>', 'received on this UTC day or later', parseDay);
}

export function requireMatching({ outcome, reason }: FilterOptions): void {
  if (outcome === 'conflict' && reason !== undefined)
    throw new UsageError('Only rejections have a reason.');
}

/** The outcome is in the id. The folders of an input are in its details. */
function toColumns({ id, received_at, reason, domain, input, member }: ListedDocument) {
  const file = input.slice(input.lastIndexOf('/') + 1);
  return {
    id,
    'received (UTC)': toShortTime(received_at),
    'reason or domain': reason === null ? domain : toReasonWords(reason),
    file: member === null ? file : `${file} > ${member}`,
  };
}

export function parseDay(text: string): Instant {
  if (!isDay(text)) throw new InvalidArgumentError('It is a day, such as 2026-03-15.');
  return `${text}T00:00:00Z`;
}

export function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('It must be 1 to 9999.');
  return Number(text);
}
