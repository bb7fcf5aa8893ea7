import { type Command, InvalidArgumentError } from 'commander';
import { type AuditEntry, listAudit } from '../store/accounts/audit.ts';
import { findAccountId } from '../store/accounts/find-by-name.ts';
import { type OutputOptions, printList } from './output/output.ts';
import { toShortTime } from './output/short-time.ts';
import { withStore } from './with-store.ts';

const DEFAULT_LIMIT = 100;

export function defineAudit(command: Command): void {
  command
    .option('--limit <entries>', 'how many entries', parseLimit, DEFAULT_LIMIT)
    .action(async (account: string, { limit, ...options }: { limit: number } & OutputOptions) => {
      const entries = await withStore(async ({ db }) =>
        listAudit(db, await findAccountId(db, account), { limit }),
      );
      const none = 'The account’s keys were not changed yet.';
      printList(entries.map(toOutput), { none, toColumns }, options);
    });
}

function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be 1 to 999999.');
  return Number(text);
}

function toOutput({ at, actor, action, key_name, key_prefix, address }: AuditEntry) {
  return { at, actor, action, key_name, key_prefix, address };
}

function toColumns(entry: ReturnType<typeof toOutput>) {
  const { at, actor, action, key_name, key_prefix, address } = entry;
  return {
    'at (UTC)': toShortTime(at),
    action: action.replaceAll('_', ' '),
    key: `${key_name} (${key_prefix})`,
    by: address === null ? actor : `${actor} from ${address}`,
  };
}
