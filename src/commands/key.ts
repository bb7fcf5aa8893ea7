import type { Command } from 'commander';
import { toInstant } from '../domain/instant.ts';
import {
  type ApiKey,
  deleteApiKey,
  insertApiKey,
  listApiKeys,
  updateApiKey,
} from '../store/accounts/api-keys.ts';
import type { Store } from '../store/connection/open.ts';
import { type OutputOptions, printList, printOne, tell } from './output.ts';
import { withStore } from './with-store.ts';

export function addKeyCommands(key: Command): void {
  key
    .command('create <account-id> <name>')
    .description('Create a key, and print it once.')
    .action(async (accountId: string, name: string, options: OutputOptions) => {
      const now = toInstant(new Date());
      const created = await withStore(({ db }) => insertApiKey(db, { accountId, name, now }));
      printOne({ ...toOutput(created), key: created.key }, options);
      if (!options.json)
        tell('\nStore the key now: Plumbline does not store it and cannot show it again.');
    });

  key
    .command('list <account-id>')
    .description('List an account’s keys.')
    .action(async (accountId: string, options: OutputOptions) => {
      const keys = await withStore(({ db }) => listApiKeys(db, accountId));
      const none = 'The account has no key yet: plumbline key create <account-id> <name>';
      printList(keys.map(toOutput), none, options);
    });

  addChange(key, 'disable', 'Switch a key off.', ({ db }, id) => updateApiKey(db, id, false));
  addChange(key, 'enable', 'Switch a key on.', ({ db }, id) => updateApiKey(db, id, true));
  addChange(key, 'delete', 'Delete a key for good.', ({ db }, id) => deleteApiKey(db, id));
}

function addChange(
  key: Command,
  verb: string,
  description: string,
  change: (store: Store, id: string) => Promise<ApiKey>,
): void {
  key
    .command(`${verb} <key-id>`)
    .description(description)
    .action(async (id: string, options: OutputOptions) => {
      printOne(toOutput(await withStore((store) => change(store, id))), options);
    });
}

function toOutput({ id, name, prefix, enabled, createdAt, lastUsedAt }: ApiKey) {
  return { id, name, prefix, enabled, created_at: createdAt, last_used_at: lastUsedAt };
}
