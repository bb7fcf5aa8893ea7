import { type Command, Option } from 'commander';
import { type Config, readConfig } from '../config/config.ts';
import { createSealings } from '../config/secrets-key.ts';
import type { Sealing } from '../domain/access/sealing.ts';
import { Failure } from '../domain/failure.ts';
import { parseWebhookUrl } from '../domain/webhooks/address.ts';
import {
  FORMATS,
  type Format,
  findTwice,
  parseDescription,
  parseWebhookEvents,
  USUAL_EVENTS,
} from '../domain/webhooks/webhook.ts';
import { openToSeal } from '../store/accounts/sealed-secrets.ts';
import type { Db } from '../store/engine/database.ts';
import { operator } from '../store/events/audit.ts';
import { insertTest } from '../store/notify/deliveries.ts';
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  rotateWebhook,
  updateWebhook,
  type Webhook,
} from '../store/notify/webhooks.ts';
import { parseId } from './arguments.ts';
import { warnOfOwner } from './loose-files.ts';
import {
  hint,
  type OutputOptions,
  printList,
  printOne,
  printResult,
  tell,
} from './output/output.ts';
import { withAccount, withStore } from './with-store.ts';

export function define(webhook: Command): void {
  webhook
    .command('create <account> <url>')
    .description('Create an endpoint, and print its secret once.')
    .option('--events <events>', 'separated by commas', USUAL_EVENTS.join(','))
    .addOption(new Option('--format <format>').choices(FORMATS).default('standard'))
    .option('--description <text>', 'what it is for', '')
    .action(createWebhook);
  webhook
    .command('list <account>')
    .description('List an account’s endpoints.')
    .action(async (account: string, options: OutputOptions) => {
      const webhooks = await withAccount(account, listWebhooks);
      const none = 'The account has no endpoint yet: plumbline webhook create <account> <url>';
      printList(webhooks.map(toOutput), { none, toColumns }, options);
    });
  addOne(webhook, 'show', 'Show an endpoint.', findWebhook);
  addOne(webhook, 'enable', 'Turn an endpoint on; what waited is sent.', (db, id) =>
    updateWebhook(db, id, true, operator()),
  );
  addOne(webhook, 'disable', 'Turn an endpoint off.', (db, id) =>
    updateWebhook(db, id, false, operator()),
  );
  withId(webhook, 'delete', 'Delete an endpoint for good.').action(
    async (id: string, options: OutputOptions) => {
      const { url } = await withStore(({ db }) => deleteWebhook(db, id, operator()));
      printOne({ id, url, deleted: true }, options);
    },
  );
  withId(webhook, 'test', 'Send a test event, as soon as a server or worker runs.').action(
    async (id: string, options: OutputOptions) => {
      const event = await withStore(({ db }) => insertTest(db, id, operator()));
      printResult({ event }, `The event ${event} is queued. A server or worker sends it.`, options);
    },
  );
  withId(webhook, 'rotate', 'Make a new secret. The old one signs too for 24 hours.').action(
    async (id: string, options: OutputOptions) => {
      const by = operator();
      const rotated = await withStore(async ({ db }) =>
        rotateWebhook(db, id, { sealing: await openFor(db, readConfig(process.env)), by }),
      );
      printWithSecret(rotated, options);
    },
  );
}

async function createWebhook(
  account: string,
  text: string,
  { format, ...options }: OutputOptions & { events: string; format: Format; description: string },
): Promise<void> {
  const url = parseWebhookUrl(text, readConfig(process.env).webhookAllow);
  const events = parseWebhookEvents(options.events.split(','));
  const description = parseDescription(options.description);
  const created = await withAccount(account, async (db, accountId) => {
    const sealing = await openFor(db, readConfig(process.env));
    const webhook = { accountId, url, events, format, description };
    const made = await insertWebhook(db, webhook, { sealing, by: operator() });
    return { ...made, twice: findTwice(await listWebhooks(db, accountId), url) };
  });
  printWithSecret(created, options);
  if (created.twice !== undefined) tell(`Warning: ${created.twice}`);
}

async function openFor(db: Db, { secretsKeyFile }: Config): Promise<Sealing> {
  if (secretsKeyFile === undefined)
    throw new Failure(
      'validation_error',
      'With PostgreSQL, secrets need a key: set PLUMBLINE_SECRETS_KEY_FILE.',
    );
  const sealing = await openToSeal(db, createSealings(secretsKeyFile));
  if (secretsKeyFile.isMade) warnOfOwner(secretsKeyFile.path, (text) => tell(`Warning: ${text}`));
  return sealing;
}

function printWithSecret(
  { secret, ...webhook }: Webhook & { readonly secret: string },
  options: OutputOptions,
): void {
  printOne({ ...toOutput(webhook), secret }, options);
  if (!options.json) hint('\nStore the secret now: it is not shown again.', options);
}

function withId(webhook: Command, verb: string, description: string): Command {
  return webhook
    .command(verb)
    .argument('<webhook-id>', 'as listed', parseId)
    .description(description);
}

function addOne(
  webhook: Command,
  verb: string,
  description: string,
  work: (db: Db, id: string) => Promise<Webhook>,
): void {
  withId(webhook, verb, description).action(async (id: string, options: OutputOptions) => {
    printOne(toOutput(await withStore(({ db }) => work(db, id))), options);
  });
}

function toOutput({ id, url, enabled, events, format, description, ...webhook }: Webhook) {
  const { offReason: off_reason, createdAt: created_at, oldUntil: old_secret_until } = webhook;
  const times = { created_at, old_secret_until };
  return { id, url, enabled, off_reason, events: events.join(','), format, description, ...times };
}

function toColumns({ id, url, enabled, off_reason, events }: ReturnType<typeof toOutput>) {
  return { id, url, on: off_reason === null ? enabled : `no (${off_reason})`, events };
}
