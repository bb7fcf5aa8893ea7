import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { type DemoDay, demoDays } from '../../scripts/demo/reports.ts';
import { DOMAINS } from '../../scripts/demo/traffic.ts';
import { evaluate } from '../alerts/evaluate.ts';
import { type Config, readConfig } from '../config.ts';
import { DEFAULT_THRESHOLDS as thresholds } from '../domain/alerts/thresholds.ts';
import { toInstant } from '../domain/instant.ts';
import { hashPassword } from '../domain/password.ts';
import { ingest } from '../intake/ingest.ts';
import { insertAccount } from '../store/accounts.ts';
import { insertApiKey } from '../store/api-keys.ts';
import { insertDomain } from '../store/domains.ts';
import { openStore, type Store } from '../store/open.ts';
import { insertPerson } from '../store/people.ts';
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

interface Demo {
  readonly account_id: string;
  readonly key: string;
  readonly email: string;
  readonly password: string;
  readonly domains: readonly { readonly id: string; readonly domain: string }[];
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

/** Everything comes in by the doors that real data comes in by. */
async function fillStore(store: Store, today: Date): Promise<Demo> {
  const { db } = store;
  const now = toInstant(today);
  const account = await insertAccount(db, { name: 'Demo account', plan: 'pro', now });
  const { key } = await insertApiKey(db, { accountId: account.id, name: 'Demo key', now });
  const passwordHash = await hashPassword(PERSON.password);
  await insertPerson(db, { accountId: account.id, email: PERSON.email, passwordHash, now });
  const domains: { id: string; domain: string }[] = [];
  for (const { name } of DOMAINS) {
    const { id } = await insertDomain(db, { accountId: account.id, name, now });
    domains.push({ id, domain: name });
  }
  const domainIds = domains.map(({ id }) => id);
  for (const day of demoDays(today)) {
    await ingestDay(store, day);
    await evaluate({ store, thresholds, now: () => day.receivedAt }, domainIds);
  }
  return { account_id: account.id, key, ...PERSON, domains };
}

async function ingestDay({ db }: Store, { receivedAt, files }: DemoDay): Promise<void> {
  const sources = files.values().map(({ name, bytes }) => ({
    name,
    read: async () => ({ name, bytes }),
  }));
  for await (const { outcome, source } of ingest({ db, now: () => receivedAt }, toAsync(sources))) {
    if (outcome !== 'stored') throw new Error(`The demo's ${source} was ${outcome}.`);
  }
}

async function* toAsync<T>(values: Iterable<T>): AsyncGenerator<T> {
  yield* values;
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

Ctrl+C ends the demo.
`;
}
