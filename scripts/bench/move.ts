/**
 * How fast `plumbline move` is, and how large reports are in PostgreSQL:
 * `node scripts/bench/move.ts fill <path> --reports 100000`, then `node scripts/bench/move.ts run <path>`.
 * Each report is an input of its own with 2 KB of original bytes, as a provider's compressed report has.
 */
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { toInstant } from '../../src/domain/instant.ts';
import { insertAccount } from '../../src/store/accounts/accounts.ts';
import { insertDomain } from '../../src/store/domains/domains.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { moveDatabase } from '../../src/store/move/move.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { receiveInputs } from '../receive.ts';
import { aSyntheticReport } from '../synthetic-report.ts';

const ORIGINAL_BYTES = 2_000;
const DOMAINS = 20;
const DAYS = 365;
const BATCH = 1_000;

async function fill(path: string, reports: number): Promise<void> {
  const store = await openStore(path);
  const now = toInstant(new Date());
  const account = await insertAccount(store.db, { name: 'Bench', plan: 'pro', now });
  const names = Array.from({ length: DOMAINS }, (_, i) => `d${i}.example`);
  for (const name of names) await insertDomain(store.db, { accountId: account.id, name, now });
  for (let from = 0; from < reports; from += BATCH)
    await fillBatch(store, { from, reports, names });
  await store.close();
}

interface Batch {
  readonly from: number;
  readonly reports: number;
  readonly names: readonly string[];
}

async function fillBatch({ db }: Store, { from, reports, names }: Batch): Promise<void> {
  const length = Math.min(BATCH, reports - from);
  const sources = Array.from({ length }, (_, i) => {
    const number = from + i;
    const domain = names[number % names.length] as string;
    const day = Math.floor((number * DAYS) / reports);
    const content = aSyntheticReport({ domain, number, day });
    return {
      name: `provider.example!${domain}!${number}.xml.gz`,
      bytes: randomBytes(ORIGINAL_BYTES),
      documents: [{ member: [], content }],
    };
  });
  await receiveInputs(db, sources, toInstant(new Date()));
}

const SIZES = `
  select relname as table, reltuples::bigint as rows, pg_table_size(oid) as table_bytes,
    pg_indexes_size(oid) as index_bytes
  from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and pg_total_relation_size(oid) > 100000
  order by pg_total_relation_size(oid) desc`;

async function run(path: string): Promise<void> {
  const server = await startPostgres({
    settings: { shared_buffers: '256MB', max_wal_size: '4GB' },
  });
  const url = server.toUrl('postgres');
  const begun = performance.now();
  const moved = await moveDatabase({ from: path, to: url, now: () => new Date() });
  const seconds = (performance.now() - begun) / 1000;
  const client = new pg.Client(url);
  await client.connect();
  const tables = (await client.query(SIZES)).rows;
  const intake = await measureIntake(url);
  await client.end();
  await server.stop();
  const rows = moved.reduce((sum, table) => sum + table.rows, 0);
  const fileMb = statSync(path).size / 1e6;
  const perSecond = { rows: rows / seconds, mb: fileMb / seconds };
  const maxRssMib = process.resourceUsage().maxRSS / 1024;
  const figures = { intake, rows, fileMb, seconds, perSecond, maxRssMib, tables };
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
}

/** Reports that one process stores in a second, each an input of its own, without reading XML. */
async function measureIntake(url: string): Promise<{ reportsPerSecond: number }> {
  const store = await openStore(url);
  const names = Array.from({ length: DOMAINS }, (_, i) => `d${i}.example`);
  const begun = performance.now();
  for (let from = LATER; from < LATER + 5 * BATCH; from += BATCH)
    await fillBatch(store, { from, reports: LATER + 5 * BATCH, names });
  const seconds = (performance.now() - begun) / 1000;
  await store.close();
  return { reportsPerSecond: (5 * BATCH) / seconds };
}

/** Numbers of reports that were not stored before. */
const LATER = 10_000_000;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { reports: { type: 'string', default: '100000' } },
});
const [verb, path = ''] = positionals;
if (verb === 'fill') await fill(path, Number(values.reports));
else await run(path);
