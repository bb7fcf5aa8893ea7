import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { type Config, readConfig } from '../config.ts';
import { toInstant } from '../domain/instant.ts';
import { hashPassword } from '../domain/password.ts';
import { openStore, type Store } from '../store/open.ts';
import { insertPerson } from '../store/people.ts';
import { type DemoAccount, ingestDemo, insertDemoAccount } from './demo-data.ts';
import { type OutputOptions, print, printJson } from './output.ts';
import { serveUntilStopped } from './serve.ts';

const DATABASE = 'demo.db';
/** Not a secret: the demo listens on this machine, and holds nothing that is true. */
const PERSON = { email: 'demo@example.com', password: 'plumb lines are straight' };

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('Serve made-up data: two domains, ninety days of reports, a few alerts.')
    .action(async (options: OutputOptions) => {
      const config = toDemoConfig(readConfig(process.env));
      const store = await openEmptyStore(config.database);
      const demo = await fillStore(store, new Date());
      const { url } = await serveUntilStopped(config, store);
      if (options.json) printJson({ url, ...demo });
      else print(renderWelcome(url, { ...demo, database: config.database }));
    });
}

/** The demo has a database of its own, made anew each time, beside the one that is configured. */
function toDemoConfig(config: Config): Config {
  // Its domains are made up: nobody's resolver has anything to say about them.
  return { ...config, database: join(dirname(config.database), DATABASE), dnsChecks: false };
}

async function openEmptyStore(path: string): Promise<Store> {
  for (const suffix of ['', '-wal', '-shm']) await rm(path + suffix, { force: true });
  return await openStore(path);
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
Plumbline's demo listens on ${url}, with made-up data in ${database}.

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
