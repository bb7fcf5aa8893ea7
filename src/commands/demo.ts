import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { type Config, readConfig } from '../config/config.ts';
import { findSecretsKeyFile } from '../config/secrets-key.ts';
import { type DemoAccount, ingestDemo, insertDemoAccount } from '../demo/demo-data.ts';
import { openEmpty } from '../demo/open-empty.ts';
import { hashPassword } from '../domain/access/password.ts';
import { isPostgresUrl, toShownDatabase } from '../domain/database-address.ts';
import { toInstant } from '../domain/instant.ts';
import { toDatabaseError } from '../store/engine/database-error.ts';
import { openStore, type Store } from '../store/engine/open.ts';
import { insertPerson } from '../store/people/new-people.ts';
import { parsePostgresUrl } from './arguments.ts';
import { type OutputOptions, printResult } from './output/output.ts';
import { serveUntilStopped } from './serving/process.ts';

const DATABASE = 'demo.db';
/** Not a secret: the demo listens on this machine only, and its data is made up. */
const PERSON = { email: 'demo@example.com', password: 'plumb lines are straight' };

export function define(command: Command): void {
  command.addOption(
    new Option(
      '--database <url>',
      'an empty PostgreSQL database for the demo, which is not removed',
    ).argParser(parsePostgresUrl),
  );
  command.action(async (options: DemoOptions) => {
    if (options.database !== undefined) return await serveDemoOn(options.database, options);
    const folder = await mkdtemp(join(tmpdir(), 'plumbline-demo-'));
    try {
      await serveDemo(folder, options);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  });
}

interface DemoOptions extends OutputOptions {
  readonly database?: string;
}

/**
 * The configuration of a demo: its database and what belongs to it are its own, whatever is configured. Its domains are
 * made up, so DNS has no records for them. Its requests must not use up the service's limits.
 */
export function toDemoConfig(config: Config, database: string): Config {
  const secretsKeyFile = findSecretsKeyFile(undefined, database);
  return { ...config, database, secretsKeyFile, dnsChecks: false, redis: undefined };
}

/** The database is in a new folder of its own, so removing the folder removes nothing else. */
async function serveDemo(folder: string, options: OutputOptions): Promise<void> {
  const config = toDemoConfig(readConfig(process.env), join(folder, DATABASE));
  await fillAndServe(config, await openTemporaryStore(config.database, folder), options);
}

/** On a database that is given. Only an empty one is filled. */
async function serveDemoOn(database: string, options: OutputOptions): Promise<void> {
  const config = toDemoConfig(readConfig(process.env), database);
  const store = await openEmpty(database, config.databaseOptions);
  try {
    await fillAndServe(config, store, options);
  } catch (error) {
    await store.close();
    throw toDatabaseError(database, error);
  }
}

async function fillAndServe(config: Config, store: Store, options: OutputOptions): Promise<void> {
  const database = toShownDatabase(config.database);
  const demo = await fillStore(store, new Date());
  const { url } = await serveUntilStopped(config, store);
  printResult({ url, ...demo, database }, renderWelcome(url, { ...demo, database }), options);
}

/** Opens a store whose folder is removed when it is closed. */
async function openTemporaryStore(path: string, folder: string): Promise<Store> {
  const store = await openStore(path);
  const close = async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { ...store, close };
}

interface Demo extends DemoAccount {
  readonly email: string;
  readonly password: string;
}

async function fillStore(store: Store, today: Date): Promise<Demo> {
  const account = await insertDemoAccount(store.db, { today });
  const passwordHash = await hashPassword(PERSON.password);
  const { account_id: accountId } = account;
  await insertPerson(store.db, {
    accountId,
    email: PERSON.email,
    passwordHash,
    now: toInstant(today),
  });
  await ingestDemo(store, account, today);
  return { ...account, ...PERSON };
}

function renderWelcome(
  url: string,
  { key, email, password, domains, database }: Demo & { database: string },
): string {
  const get = (path: string) =>
    `  curl -H "Authorization: Bearer ${key}" "${url}/v1/external${path}"`;
  return `
Plumbline's demo listens on ${url}, with made-up data in ${database}${
    isPostgresUrl(database)
      ? '.'
      : `,
which is removed when the demo ends.`
  }

Sign in to the settings pages, where people see their domains and manage their keys:

  ${url}/settings
  E-mail    ${email}
  Password  ${password}

The API key of its account, which a real account would be shown once:

  ${key}

Paste these into another terminal:

${get('/domains')}
${get(`/domains/${domains[0]?.id}/reports?limit=5`)}
${get('/alerts')}

What partners read is at ${url}/docs/

Ctrl+C ends the demo.
`;
}
