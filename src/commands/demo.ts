import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { type Config, readConfig } from '../config/config.ts';
import { findSecretsKeyFile } from '../config/secrets-key.ts';
import { DEMO_NETWORKS, ingestDemo, insertDemoAccount, openEmpty } from '../demo/demo-data.ts';
import { toFirstDay } from '../demo/reports.ts';
import { hashPassword } from '../domain/access/password.ts';
import { findDatabaseFile, toShownDatabase } from '../domain/database-address.ts';
import { toInstant } from '../domain/instant.ts';
import { tellDocs } from '../http/docs.ts';
import { toDatabaseError } from '../store/engine/open.ts';
import type { Store } from '../store/engine/store.ts';
import { insertPerson } from '../store/people/new-people.ts';
import { parsePostgresUrl } from './arguments.ts';
import { type OutputOptions, printResult } from './output/output.ts';
import { runUntilStopped } from './serving/process.ts';

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
  command.action(async ({ database, ...options }: OutputOptions & { database?: string }) => {
    if (database !== undefined) return await serveDemo(database, options);
    // The folder is new, so removing it removes nothing else.
    const folder = await mkdtemp(join(tmpdir(), 'plumbline-demo-'));
    await serveDemo(join(folder, DATABASE), options, () =>
      rm(folder, { recursive: true, force: true }),
    );
  });
}

/** A demo has its own database, key and port, no DNS records, and must not use up the service's limits in Redis. */
export function toDemoConfig(config: Config, database: string): Config {
  return {
    ...config,
    database,
    secretsKeyFile: findSecretsKeyFile(undefined, database),
    ipDatabase: config.ipDatabase ?? DEMO_NETWORKS,
    sharesPort: false,
    dnsChecks: false,
    redis: undefined,
  };
}

async function serveDemo(
  database: string,
  options: OutputOptions,
  removeDatabase = async () => {},
): Promise<void> {
  const config = toDemoConfig(readConfig(process.env), database);
  const opened = await openEmpty(database, config.databaseOptions).catch(async (error) => {
    await removeDatabase();
    throw error;
  });
  const close = async () => {
    await opened.close();
    await removeDatabase();
  };
  const store = { ...opened, close };
  try {
    const shown = { ...(await fillStore(store, new Date())), database: toShownDatabase(database) };
    const { url } = await runUntilStopped(config, store);
    const docs = await tellDocs(`${url}/docs/`);
    printResult({ url, ...shown }, renderWelcome(url, shown, docs), options);
  } catch (error) {
    // It may be closed already.
    await close().catch(() => undefined);
    throw toDatabaseError(database, error);
  }
}

type Demo = Awaited<ReturnType<typeof fillStore>>;

async function fillStore(store: Store, today: Date) {
  const account = await insertDemoAccount(store.db, today);
  const passwordHash = await hashPassword(PERSON.password);
  const { account_id: accountId } = account;
  const { email } = PERSON;
  const now = toInstant(toFirstDay(today));
  await insertPerson(store.db, { accountId, email, passwordHash, now });
  await ingestDemo(store, account, today);
  return { ...account, ...PERSON };
}

function renderWelcome(
  url: string,
  { key, email, password, domains, database }: Demo & { database: string },
  docs: string,
): string {
  const get = (path: string) =>
    `  curl -H "Authorization: Bearer ${key}" "${url}/v1/external${path}"`;
  const isKept = findDatabaseFile(database) === undefined;
  const end = isKept ? '.' : ',\nwhich is removed when the demo ends.';
  return `
Plumbline's demo listens on ${url}, with made-up data in ${database}${end}

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

What partners read is ${docs}

Ctrl+C ends the demo.
`;
}
