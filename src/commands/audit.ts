import { type Command, Option } from 'commander';
import { AUDIT_KINDS, type AuditKind } from '../domain/access/audit-actions.ts';
import { addDays, type Instant, toDay } from '../domain/instant.ts';
import { type AuditEntry, listAudit } from '../store/events/audit.ts';
import { parseDay, parseWhole } from './arguments.ts';
import { hint, type OutputOptions, printList, toShortTime } from './output/output.ts';
import { withAccount } from './with-store.ts';

const DEFAULT_LIMIT = 100;

const parseNumber = parseWhole(Number.MAX_SAFE_INTEGER, 'It must be a number from 1.');

interface AuditOptions extends OutputOptions {
  readonly limit: number;
  readonly before?: number;
  readonly kind?: AuditKind;
  readonly by?: string;
  readonly from?: Instant;
  /** The beginning of the last day. */
  readonly until?: Instant;
}

export function define(command: Command): void {
  command
    .option('--limit <entries>', 'how many entries', parseNumber, DEFAULT_LIMIT)
    .option('--before <seq>', 'only entries before this one: the seq of the last one', parseNumber)
    .addOption(new Option('--kind <kind>', 'only what was done to these').choices(AUDIT_KINDS))
    .option('--by <who>', 'only by this e-mail address, by operator, or by plumbline')
    .option('--from <day>', 'only from this day on (UTC)', parseDay)
    .option('--until <day>', 'only until the end of this day (UTC)', parseDay)
    .action(printAudit);
}

async function printAudit(account: string, options: AuditOptions): Promise<void> {
  const { limit, before, kind, by: actor, from, until: last } = options;
  const until = last && `${addDays(toDay(last), 1)}T00:00:00Z`;
  const filter = { limit, before, kind, actor, from, until };
  const entries = await withAccount(account, (db, id) => listAudit(db, id, filter));
  const none = 'Nothing was done that fits.';
  printList(entries.map(toOutput), { none, toColumns }, options);
  const oldest = entries.at(-1);
  if (oldest !== undefined && entries.length === limit)
    hint(`Older ones: --before ${oldest.seq}`, options);
}

function toOutput({ seq, at, actor, action, subject, detail, address }: AuditEntry) {
  return { seq, at, actor, action, subject, detail: detail === '' ? null : detail, address };
}

function toColumns({ at, actor, action, subject, detail, address }: ReturnType<typeof toOutput>) {
  return {
    'at (UTC)': toShortTime(at),
    action: action.replaceAll('_', ' '),
    subject: detail === null ? subject : `${subject} (${detail})`,
    by: address === null ? actor : `${actor} from ${address}`,
  };
}
