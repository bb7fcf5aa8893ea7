import { Argument, type Command, Option } from 'commander';
import type { Plan } from '../domain/access/api-key.ts';
import { toInstant } from '../domain/instant.ts';
import { insertAccount, listAccounts, updatePlan } from '../store/accounts/accounts.ts';
import { listApiKeys } from '../store/accounts/api-keys.ts';
import { findAccountId } from '../store/accounts/find-by-name.ts';
import { hint, type OutputOptions, printList, printOne } from './output/output.ts';
import { withNewStore, withStore } from './with-store.ts';

const PLANS = ['pro', 'free'] as const;

export function addAccountCommands(account: Command): void {
  account
    .command('create <name>')
    .description('Create an account.')
    .addOption(new Option('--plan <plan>', 'only Pro has the API').choices(PLANS).default('pro'))
    .option('--allow-duplicate', 'also when another account has the name')
    .action(async (name: string, { plan, allowDuplicate, ...options }: CreateOptions) => {
      const now = toInstant(new Date());
      const created = await withNewStore(options, ({ db }) =>
        insertAccount(db, { name, plan, now, allowDuplicate }),
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
    .action(changePlan);
}

interface CreateOptions extends OutputOptions {
  readonly plan: Plan;
  readonly allowDuplicate?: boolean;
}

async function changePlan(account: string, plan: Plan, options: OutputOptions): Promise<void> {
  const { changed, keys } = await withStore(async ({ db }) => {
    const changed = await updatePlan(db, await findAccountId(db, account), plan);
    return { changed, keys: await listApiKeys(db, changed.id) };
  });
  const { disabledKeys, ...row } = changed;
  printOne(row, options);
  const off = keys.filter(({ enabled }) => !enabled).length;
  if (plan === 'free') hint(`Keys that were disabled: ${disabledKeys.length}.`, options);
  else if (off > 0)
    hint(`Keys that stay disabled: ${off}. To enable one: plumbline key enable <key-id>`, options);
}
