/** A year of thirty domains, whose last day is yesterday. */
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { addDays, type Day, toDay, toInstant } from '../../src/domain/instant.ts';
import type { AggregateReport } from '../../src/domain/reports/aggregate-report.ts';
import { insertAccount } from '../../src/store/accounts/accounts.ts';
import { insertApiKey } from '../../src/store/accounts/api-keys.ts';
import { insertDomain } from '../../src/store/domains/domains.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { aRecord, BARE_METADATA, BARE_POLICY, BARE_REPORT, withRecords } from '../bare-report.ts';
import { type MadeUpInput, receiveInputs } from '../receive.ts';

const [DOMAINS, DAYS, RECORDS, ADDRESSES] = [30, 365, 10, 60];

export interface Filled {
  readonly database: string;
  readonly key: string;
  readonly domainIds: readonly string[];
  readonly newest: Day;
}

export async function fill(folder: string, reports: number): Promise<Filled> {
  const note = join(folder, `year-${reports}.json`);
  if (existsSync(note)) return JSON.parse(await readFile(note, 'utf8'));
  const database = join(folder, `year-${reports}.db`);
  const store = await openStore(database);
  const newest = addDays(toDay(toInstant(new Date())), -1);
  const owner = await addOwner(store);
  for (const [d, domain] of owner.names.entries())
    await storeYear(store, domain, { newest, ofDay: reports / DOMAINS / DAYS, seed: d });
  await store.close();
  const filled = { database, key: owner.key, domainIds: owner.domainIds, newest };
  await writeFile(note, JSON.stringify(filled));
  return filled;
}

/** Each way of starting begins with days that nobody has counted: their first look takes the most memory. */
export function forgetCounted({ database }: Filled): void {
  const connection = new Database(database);
  connection.exec('update domain_day set sources = null');
  connection.close();
}

async function addOwner({ db }: Store) {
  const now = toInstant(new Date());
  const { id: accountId } = await insertAccount(db, { name: 'A year', plan: 'pro', now });
  const { key } = await insertApiKey(db, { accountId, name: 'memory', now });
  const names = Array.from({ length: DOMAINS }, (_, d) => `company-${d}.example`);
  const domainIds: string[] = [];
  for (const name of names) domainIds.push((await insertDomain(db, { accountId, name, now })).id);
  return { key, names, domainIds };
}

interface Year {
  readonly newest: Day;
  /** Reports of a day, which may be a part of one. */
  readonly ofDay: number;
  readonly seed: number;
}

async function storeYear({ db }: Store, domain: string, { newest, ofDay, seed }: Year) {
  const documents: MadeUpInput['documents'][number][] = [];
  for (let i = 0; i < Math.floor(ofDay * DAYS); i++) {
    const day = addDays(newest, -Math.floor(i / ofDay));
    documents.push({ member: [`${i}`], content: aReport(domain, day, i + 7919 * seed) });
  }
  const bytes = Buffer.from(`a year of ${domain}`);
  const input = { name: `memory:${domain}`, bytes, documents };
  await receiveInputs(db, [input], toInstant(new Date()));
}

/** One report in four has an address that no other day has. */
function aReport(domain: string, day: Day, n: number): AggregateReport {
  const begin = Date.parse(`${day}T00:00:00Z`) / 1_000;
  const orgName = `Reporter ${n % 9}`;
  const report = {
    ...BARE_REPORT,
    metadata: {
      ...BARE_METADATA,
      ...{ orgName, email: `dmarc@reporter-${n % 9}.example`, reportId: `${domain} ${n}` },
      ...{ begin, end: begin + 86_399 },
    },
    policyPublished: { ...BARE_POLICY, domain, pct: 100 },
    payloadSha256: hash('sha256', `${domain} ${n}`, 'hex').slice(0, 32),
  };
  return withRecords(
    report,
    Array.from({ length: RECORDS }, (_, i) => toRecord(domain, n, i)),
  );
}

function toRecord(domain: string, n: number, i: number) {
  const isStranger = i === RECORDS - 1 && n % 4 === 0;
  const source = isStranger ? ADDRESSES + n : (i * 6 + n * 7) % ADDRESSES;
  const service = `mailer-${source % 25}.example`;
  return aRecord({
    sourceIp: `198.${18 + ((source >> 16) & 1)}.${(source >> 8) & 255}.${source & 255}`,
    count: 1 + ((source + 31 * n) % 300),
    headerFrom: domain,
    dkim: isStranger ? 'fail' : 'pass',
    spfDomain: `bounces.${service}`,
    signatures: isStranger
      ? []
      : [{ domain, selector: `s${source % 3}`, result: 'pass', humanResult: null }],
  });
}
