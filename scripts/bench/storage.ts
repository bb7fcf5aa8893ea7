/** What a stored report takes, by table and index, beside its original's own bytes. */
import Database from 'better-sqlite3';
import pg from 'pg';
import type { Bench } from './bench.ts';
import { type Cost, printCosts } from './compare.ts';
import type { Filled } from './databases.ts';

const MEASURED = ['domain', 'account'] as const;
/** What takes less a report is not printed. */
const SMALL_BYTES = 2;

export async function benchStorage({ isWanted, ...bench }: Bench): Promise<void> {
  for (const shape of MEASURED) {
    const title = `storage, ${bench.engine.name}: bytes a report (${shape})`;
    if (!isWanted(title)) continue;
    const costs: Cost[] = [];
    for (const checkout of bench.checkouts)
      costs.push(await measure(await bench.databases.open(checkout, shape)));
    const names = bench.checkouts.map(({ name }) => name);
    printCosts(title, names, costs);
  }
}

async function measure({ database, reports, originalBytes }: Filled): Promise<Cost> {
  const sizes = (await listSizes(database)).sort((a, b) => b.bytes - a.bytes);
  const sum = (some: readonly Size[]) => some.reduce((total, { bytes }) => total + bytes, 0);
  const large = sizes.filter(({ bytes }) => bytes / reports >= SMALL_BYTES);
  const bytes = {
    'beside originals (goal: 1,800)': sum(sizes) - originalBytes,
    originals: originalBytes,
    ...Object.fromEntries(large.map(({ name, bytes }) => [name, bytes])),
    'everything else': sum(sizes) - sum(large),
  };
  const ofReport = Object.entries(bytes).map(([name, sum]) => [name, sum / reports]);
  return Object.fromEntries(ofReport);
}

/** What a table's rows, with their values out of line, or one of its indexes take, in whole pages as they are on the disk. */
interface Size {
  readonly name: string;
  readonly bytes: number;
}

const ON_SQLITE = 'select name, pgsize as bytes from dbstat where aggregate = 1';

const ON_POSTGRES = `select relname as name,
    (case relkind when 'r' then pg_table_size(oid) else pg_relation_size(oid) end)::float8 as bytes
  from pg_class where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace`;

async function listSizes(database: string): Promise<Size[]> {
  if (!database.startsWith('postgres:')) {
    const db = new Database(database, { readonly: true });
    const rows = db.prepare(ON_SQLITE).all();
    db.close();
    return rows as Size[];
  }
  const client = new pg.Client(database);
  await client.connect();
  const { rows } = await client.query(ON_POSTGRES);
  await client.end();
  return rows;
}
