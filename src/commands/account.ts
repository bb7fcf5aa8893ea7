import { Argument, type Command, Option } from 'commander';
import type { Plan } from '../domain/api-key.ts';
import { toInstant } from '../domain/instant.ts';
import { insertAccount, listAccounts, updatePlan } from '../store/accounts/accounts.ts';
import { findAccountId } from '../store/accounts/find-by-name.ts';
import { type OutputOptions, printList, printOne } from './output.ts';
import { withNewStore, withStore } from './with-store.ts';

const PLANS = ['pro', 'free'] as const;

export function addAccountCommands(account: Command): void {
  account
    .command('create <name>')
    .description('Create an account.')
    .addOption(new Option('--plan <plan>', 'only Pro has the API').choices(PLANS).default('pro'))
    .action(async (name: string, { plan, ...options }: { plan: Plan } & OutputOptions) => {
      const now = toInstant(new Date());
      const created = await withNewStore(options, ({ db }) =>
        insertAccount(db, { name, plan, now }),
      );
      printOne({ ...created }, options);
    });

  account
    .command('list')
    .description('List all accounts.')
    .action(async (options: OutputOptions) => {
      const accounts = await withStore(({ db }) => listAccounts(db));
      const rows = accounts.map((account) => ({ ...account }));
      const none = 'There is no account yet: plumbline account create <name>';
      printList(rows, { none }, options);
    });

  account
    .command('plan <account>')
    .description('Change the plan. Leaving Pro disables all of the account’s keys.')
    .addArgument(new Argument('<plan>').choices(PLANS))
    .action(async (account: string, plan: Plan, options: OutputOptions) => {
      const changed = await withStore(async ({ db }) =>
        updatePlan(db, await findAccountId(db, account), plan),
      );
      printOne({ ...changed }, options);
    });
}
