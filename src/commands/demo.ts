import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { demoAlerts } from '../../scripts/demo/alerts.ts';
import { demoDays } from '../../scripts/demo/reports.ts';
import { DOMAINS } from '../../scripts/demo/traffic.ts';
import { type Config, readConfig } from '../config.ts';
import { toInstant } from '../domain/instant.ts';
import { hashPassword } from '../domain/password.ts';
import { ingest } from '../intake/ingest.ts';
import { insertAccount } from '../store/accounts.ts';
import { insertAlert, resolveAlert } from '../store/alerts.ts';
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
  return { ...config, database: join(dirname(config.database), DATABASE) };
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
  await ingestReports(store, today);
  await fireAlerts(store, today, { accountId: account.id, domains });
  return { account_id: account.id, key, ...PERSON, domains };
}

async function ingestReports({ db }: Store, today: Date): Promise<void> {
  for (const { receivedAt, files } of demoDays(today)) {
    const sources = files.values().map(({ name, bytes }) => ({
      name,
      read: async () => ({ name, bytes }),
    }));
    for await (const { outcome, source } of ingest(
      { db, now: () => receivedAt },
      toAsync(sources),
    )) {
      if (outcome !== 'stored') throw new Error(`The demo's ${source} was ${outcome}.`);
    }
  }
}

async function* toAsync<T>(values: Iterable<T>): AsyncGenerator<T> {
  yield* values;
}

async function fireAlerts(
  { db }: Store,
  today: Date,
  { accountId, domains }: { accountId: string; domains: Demo['domains'] },
): Promise<void> {
  for (const { domain, firedAt, resolvedAt, context } of demoAlerts(today)) {
    const domainId = domains.find((d) => d.domain === domain)?.id as string;
    const type = 'alert.alignment_regression';
    const alert = { accountId, domainId, type, firedAt: toInstant(firedAt), context };
    const id = await insertAlert(db, alert);
    if (resolvedAt !== null) await resolveAlert(db, id, toInstant(resolvedAt));
  }
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
