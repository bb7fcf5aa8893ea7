import { type Command, InvalidArgumentError } from 'commander';
import { findAccount } from '../store/accounts/accounts.ts';
import { type AuditEntry, listAudit } from '../store/accounts/audit.ts';
import { type OutputOptions, printList } from './output.ts';
import { withStore } from './with-store.ts';

const DEFAULT_LIMIT = 100;

export function defineAudit(command: Command): void {
  command
    .option('--limit <entries>', 'how many entries', parseLimit, DEFAULT_LIMIT)
    .action(async (accountId: string, { limit, ...options }: { limit: number } & OutputOptions) => {
      const entries = await withStore(async ({ db }) => {
        await findAccount(db, accountId);
        return await listAudit(db, accountId, { limit });
      });
      printList(entries.map(toOutput), 'The account’s keys were not changed yet.', options);
    });
}

function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be 1 to 999999.');
  return Number(text);
}

function toOutput({ at, actor, action, key_name, key_prefix, address }: AuditEntry) {
  return { at, actor, action, key_name, key_prefix, address };
}
