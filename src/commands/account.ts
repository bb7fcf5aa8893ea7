import { Argument, type Command, Option } from 'commander';
import { readConfig } from '../config/config.ts';
import type { AccountPlan } from '../domain/access/api-key.ts';
import { parseDisplayName } from '../domain/display-name.ts';
import { Failure } from '../domain/failure.ts';
import { toInstant } from '../domain/instant.ts';
import { pluralize } from '../domain/text.ts';
import { insertAccount, listAccounts, updateAccountName } from '../store/accounts/accounts.ts';
import { listApiKeys } from '../store/accounts/api-keys.ts';
import { findMailToken, updateMailToken } from '../store/accounts/mail-address.ts';
import { giveBackSpace } from '../store/engine/given-back.ts';
import { operator } from '../store/events/audit.ts';
import { findDeletionRequest } from '../store/leaving/deletion-request.ts';
import { updateSecondFactorRequired } from '../store/people/people.ts';
import { exportOne } from './account/export.ts';
import { confirm } from './output/confirm.ts';
import {
  type Flags,
  hint,
  type OutputOptions,
  printList,
  printOne,
  printResult,
  tellOfSpace,
} from './output/output.ts';
import { withAccount, withNewStore, withStore } from './with-store.ts';

const PLANS = ['pro', 'free'] as const;
const DEMANDS = ['required', 'optional'] as const;

export function define(account: Command): void {
  account
    .command('create <name>')
    .description('Create an account.')
    .addOption(new Option('--plan <plan>', 'only Pro has the API').choices(PLANS).default('pro'))
    .option('--allow-duplicate', 'also when another account has the name')
    .action(
      async (text: string, given: Flags<'allowDuplicate'> & { readonly plan: AccountPlan }) => {
        const { plan, allowDuplicate, ...options } = given;
        // No database is made for a name that is refused.
        const name = parseDisplayName(text, 'An account');
        const now = toInstant(new Date());
        const created = await withNewStore(options, ({ db }) =>
          insertAccount(db, { name, plan, now, allowDuplicate }),
        );
        printOne(created, options);
      },
    );

  account
    .command('list')
    .description('List all accounts.')
    .action(async (options: OutputOptions) => {
      const accounts = await withStore(({ db }) => listAccounts(db));
      const none = 'There is no account: plumbline account create <name>';
      printList(accounts, { none }, options);
    });

  account
    .command('rename <account> <name>')
    .description('Give an account another name.')
    .option('--allow-duplicate', 'also when another account has the name')
    .action(
      async (of: string, name: string, { allowDuplicate, ...output }: Flags<'allowDuplicate'>) => {
        const renamed = await withAccount(of, (db, id) =>
          updateAccountName(db, id, { name, allowDuplicate }),
        );
        printOne(renamed, output);
      },
    );

  account
    .command('address <account>')
    .description('Show the account’s own address for reports, for the rua tag of its domains.')
    .option('--new', 'make a new one; mail to the former address is refused from then on')
    .addHelpText('after', ADDRESS_HELP)
    .action(showAddress);

  account
    .command('plan <account>')
    .description('Change the plan. Leaving Pro disables all of the account’s keys and webhooks.')
    .addArgument(new Argument('<plan>').choices(PLANS))
    .action(changePlan);

  account
    .command('second-factor <account>')
    .description('Say whether people who sign in with a password need a second factor.')
    .addArgument(new Argument('<demand>').choices(DEMANDS))
    .action(demandSecondFactor);

  account
    .command('export <account> [file]')
    .description(
      'Write all that an account has as lines of JSON, into a new file or to standard output.',
    )
    .addHelpText('after', EXPORT_HELP)
    .action(exportOne);

  account
    .command('delete <account>')
    .description('Delete an account with all that is its own: domains, reports, people, audit.')
    .option('--keep-reports', 'reports stay, of domains that no account has')
    .option('--dry-run', 'only say what would go')
    .option('--yes', 'do not ask')
    .addHelpText('after', DELETE_HELP)
    .action(deleteOne);
}

const EXPORT_HELP = `
Everything may go on meanwhile: it is what the account had at one moment. Secrets are left out. The last line says how many
rows there are; without it, the export was cut off.`;

const DELETE_HELP = `
Its keys and its people are gone at once. What is left goes in small steps, while others are served: a deletion that was
interrupted is done again, and comes to the end. Mails that came to its own address go as well, read or not.`;

async function deleteOne(
  account: string,
  options: Flags<'keepReports' | 'dryRun' | 'yes'>,
): Promise<void> {
  const { keepReports: keepsReports = false, dryRun = false, yes = false, ...output } = options;
  // It knows of nearly every table, which no other command of an account does.
  const { countBelongings, deleteAccount } = await import('../store/leaving/deleted-accounts.ts');
  await withAccount(account, async (db, id) => {
    const { account: name, ...counts } = await countBelongings(db, id);
    const request = await findDeletionRequest(db, id);
    const result = {
      id,
      name,
      ...counts,
      deletion_asked_at: request?.at ?? null,
      deletion_asked_by: request?.by ?? null,
      kept_reports: keepsReports,
      deleted: !dryRun,
    };
    const { people, ...others } = counts;
    const lists = [
      ...Object.entries(others).map(([what, count]) =>
        pluralize(count, what.slice(0, -1).replace('tls_', 'TLS ')),
      ),
      people === 1 ? '1 person' : `${people} people`,
    ];
    const kept = keepsReports ? ' Its reports stay.' : '';
    const by = request && ` ${request.by}, an owner, asked for its deletion at ${request.at}.`;
    const sentence = `The account “${name}” has ${lists.join(', ')}.${kept}${by ?? ''}`;
    if (dryRun) return printResult(result, [sentence], output);
    if (!yes) await confirm(`${sentence} All of it will be deleted.`, name);
    await deleteAccount(db, id, { by: operator(), keepsReports });
    printOne(result, output);
    tellOfSpace(await giveBackSpace(db), output);
  });
}

const ADDRESS_HELP = `
A report that comes by this address, about a domain that no account has, makes the domain this account's when the
DMARC record of the domain names exactly this address. The host is PLUMBLINE_SMTP_NAME.`;

async function showAddress(account: string, options: Flags<'new'>): Promise<void> {
  const { mailHost } = readConfig(process.env);
  const { id, token } = await withAccount(account, async (db, id) => ({
    id,
    token: await (options.new ? updateMailToken(db, id) : findMailToken(db, id)),
  }));
  const address = mailHost === undefined ? null : `${token}@${mailHost}`;
  printResult({ id, token, address }, address ?? `${token}@<PLUMBLINE_SMTP_NAME>`, options);
  if (mailHost === undefined) hint('PLUMBLINE_SMTP_NAME is not set: the host is unknown.', options);
}

async function changePlan(
  account: string,
  plan: AccountPlan,
  options: OutputOptions,
): Promise<void> {
  // It loads what judges the addresses of webhooks.
  const { updatePlan } = await import('../store/leaving/plan-change.ts');
  const { listWebhooks } = await import('../store/notify/webhooks.ts');
  const { disabledKeys, disabledWebhooks, keys, webhooks, ...row } = await withAccount(
    account,
    async (db, id) => ({
      ...(await updatePlan(db, id, plan)),
      keys: await listApiKeys(db, id),
      webhooks: await listWebhooks(db, id),
    }),
  );
  printOne(row, options);
  if (plan === 'free') {
    hint(`Keys that were disabled: ${disabledKeys.length}.`, options);
    hint(`Webhook endpoints that were turned off: ${disabledWebhooks}.`, options);
    return;
  }
  const tellOff = (all: readonly { readonly enabled: boolean }[], what: string, how: string) => {
    const off = all.filter(({ enabled }) => !enabled).length;
    if (off > 0) hint(`${what}: ${off}. To ${how}`, options);
  };
  tellOff(keys, 'Keys that stay disabled', 'enable one: plumbline key enable <key-id>');
  const how = 'turn one on: plumbline webhook enable <webhook-id>';
  tellOff(webhooks, 'Webhook endpoints that stay off', how);
}

/** Refuses to require what nobody could set up: that would shut everybody out. */
async function demandSecondFactor(
  account: string,
  demand: (typeof DEMANDS)[number],
  options: OutputOptions,
): Promise<void> {
  const isRequired = demand === 'required';
  if (isRequired && readConfig(process.env).secretsKeyFile === undefined)
    throw new Failure('conflict', 'Nobody can set one up: PLUMBLINE_SECRETS_KEY_FILE is not set.');
  await withAccount(account, async (db, id) => {
    await updateSecondFactorRequired(db, id, isRequired);
    printOne({ id, second_factor: demand }, options);
  });
}
