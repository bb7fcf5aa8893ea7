/**
 * Fills a database with synthetic reports, through the store and without XML, for benches and load tests:
 * `npm run seed -- --domains 10 --reports 100000` stores 100,000 reports for each of 10 domains and prints a
 * key.
 */
import { parseArgs } from 'node:util';
import { readConfig } from '../src/config/config.ts';
import { loadConfigFile } from '../src/config/file.ts';
import { toInstant } from '../src/domain/instant.ts';
import { insertAccount } from '../src/store/accounts/accounts.ts';
import { insertApiKey } from '../src/store/accounts/api-keys.ts';
import { insertDomain } from '../src/store/domains/domains.ts';
import { openStore } from '../src/store/engine/open.ts';
import type { Store } from '../src/store/engine/store.ts';
import { receiveInputs } from './receive.ts';
import { aSyntheticReport } from './synthetic-report.ts';

/** Reports that one transaction stores. */
const BATCH = 2_000;
/** Three years: the history of an old account. */
const DAYS = 1_095;

export interface Seeded {
  readonly key: string;
  readonly domainIds: readonly string[];
}

/** Makes an account on Pro with `domains` domains, each with `reports` reports spread over three years. */
export async function seed(
  store: Store,
  {
    domains,
    reports,
    onProgress,
  }: { domains: number; reports: number; onProgress?: (stored: number) => void },
): Promise<Seeded> {
  const now = toInstant(new Date());
  const account = await insertAccount(store.db, {
    name: 'Seeded',
    plan: 'pro',
    now,
    allowDuplicate: true,
  });
  const { key } = await insertApiKey(store.db, { accountId: account.id, name: 'seed', now });
  const domainIds: string[] = [];
  for (let d = 0; d < domains; d++) {
    const name = `${account.id.slice(0, 8)}-${d}.example`;
    const domain = await insertDomain(store.db, { accountId: account.id, name, now });
    domainIds.push(domain.id);
    for (let from = 0; from < reports; from += BATCH) {
      await seedBatch(store, { name, from, to: Math.min(from + BATCH, reports), reports });
      onProgress?.(d * reports + from);
    }
  }
  return { key, domainIds };
}

interface Batch {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly reports: number;
}

async function seedBatch(store: Store, { name, from, to, reports }: Batch): Promise<void> {
  const documents = [];
  for (let i = from; i < to; i++) {
    const day = Math.floor((i * DAYS) / reports);
    documents.push({
      member: [`${i}`],
      content: aSyntheticReport({ domain: name, number: i, day }),
    });
  }
  const bytes = Buffer.from(`synthetic reports ${from} to ${to} of ${name}`);
  const source = { name: `seed:${name}`, bytes, documents };
  await receiveInputs(store.db, [source], toInstant(new Date()));
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      domains: { type: 'string', default: '2' },
      reports: { type: 'string', default: '1000' },
    },
  });
  loadConfigFile(process.env);
  const { database } = readConfig(process.env);
  const store = await openStore(database);
  const [domains, reports] = [Number(values.domains), Number(values.reports)];
  const onProgress = (stored: number) => {
    if (stored % 100_000 === 0) process.stderr.write(`${stored} of ${domains * reports}\n`);
  };
  const { key, domainIds } = await seed(store, { domains, reports, onProgress });
  await store.close();
  process.stdout.write(`${JSON.stringify({ database, key, domain_ids: domainIds }, null, 2)}\n`);
}

if (import.meta.main) await main();
