import type { Command } from 'commander';
import { isExpired, parseKeyExpiry } from '../domain/access/key-expiry.ts';
import { type Instant, later, toDay, toInstant } from '../domain/instant.ts';
import {
  type ApiKey,
  deleteApiKey,
  insertApiKey,
  listApiKeys,
  updateApiKey,
} from '../store/accounts/api-keys.ts';
import type { Db } from '../store/engine/database.ts';
import { parseId } from './arguments.ts';
import { hint, type OutputOptions, printList, printOne, toDayText } from './output/output.ts';
import { withAccount, withStore } from './with-store.ts';

export function define(key: Command): void {
  key
    .command('create <account> <name>')
    .description('Create a key, and print it once.')
    .option(
      '--expires <when>',
      'a number of days (90d), the last day on which it is accepted (2027-03-15), or none',
      'none',
    )
    .action(createKey);

  key
    .command('list <account>')
    .description('List an account’s keys.')
    .action(async (account: string, options: OutputOptions) => {
      const keys = await withAccount(account, listApiKeys);
      const none = 'The account has no key yet: plumbline key create <account> <name>';
      printList(keys.map(toOutput), { none, toColumns }, options);
    });

  addChange(key, 'disable', 'Switch a key off.', (db, id) => updateApiKey(db, id, false));
  addChange(key, 'enable', 'Switch a key on.', (db, id) => updateApiKey(db, id, true));
  addChange(key, 'delete', 'Delete a key for good.', deleteApiKey);
}

async function createKey(
  account: string,
  name: string,
  { expires, ...options }: OutputOptions & { readonly expires: string },
): Promise<void> {
  const now = toInstant(new Date());
  const expiresAt = parseKeyExpiry(expires, now);
  const created = await withAccount(account, (db, accountId) =>
    insertApiKey(db, { accountId, name, now, expiresAt }),
  );
  printOne({ ...toOutput(created), key: created.key }, options);
  if (!options.json)
    hint('\nStore the key now: Plumbline does not store it and cannot show it again.', options);
}

function addChange(
  key: Command,
  verb: string,
  description: string,
  change: (db: Db, id: string) => Promise<ApiKey>,
): void {
  key
    .command(verb)
    .argument('<key-id>', 'as listed', parseId)
    .description(description)
    .action(async (id: string, options: OutputOptions) => {
      printOne(toOutput(await withStore(({ db }) => change(db, id))), options);
    });
}

function toOutput({ id, name, prefix, enabled, createdAt, lastUsedAt, expiresAt }: ApiKey) {
  const times = { created_at: createdAt, last_used_at: lastUsedAt, expires_at: expiresAt };
  return { id, name, prefix, enabled, ...times };
}

function toColumns(key: ReturnType<typeof toOutput>) {
  const { id, name, prefix, enabled: on, last_used_at, expires_at } = key;
  const days = { 'last used': toDayText(last_used_at), 'last day': toLastDay(expires_at) };
  return { id, name, prefix, on, ...days };
}

/** The day that `--expires` takes: a key that expires at midnight is not accepted on the day that begins then. */
function toLastDay(expiresAt: Instant | null): string | null {
  if (expiresAt === null) return null;
  const day = toDay(later(expiresAt, -1_000));
  return isExpired(expiresAt, toInstant(new Date())) ? `expired ${day}` : day;
}
