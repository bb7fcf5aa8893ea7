import pg from 'pg';
import { inject } from 'vitest';
import { openStore, type Store } from '../../src/store/connection/open.ts';

/*
 * Stores on PostgreSQL for tests. Making a database and connecting takes longer than most tests, so a store that
 * a test has closed is emptied and given to the next one.
 */

interface Kept {
  readonly store: Store;
  readonly url: string;
}

const free: Kept[] = [];
let made = 0;

/** An empty store. Closing it gives it back. */
export async function takeStore(): Promise<Store> {
  const kept = free.pop() ?? (await makeStore());
  return {
    ...kept.store,
    close: async () => {
      await emptyDatabase(kept.url);
      free.push(kept);
    },
  };
}

/** The URL of a new, empty database with the product's tables. It goes when the server stops. */
export async function aPostgresDatabase(): Promise<string> {
  made += 1;
  const name = `test_${process.pid}_${made}`;
  const template = inject('postgres');
  await runOn(template.replace(/[^/]+$/, 'template1'), `create database ${name} template postgres`);
  return template.replace(/[^/]+$/, name);
}

async function makeStore(): Promise<Kept> {
  const url = await aPostgresDatabase();
  return { url, store: await openStore(url, { maxConnections: 4 }) };
}

const EMPTY = `
  do $$ declare name text; begin
    set local session_replication_role = replica;
    for name in select tablename from pg_tables where schemaname = 'public' and tablename not like 'kysely%' loop
      execute format('delete from %I', name);
    end loop;
    for name in select sequencename from pg_sequences where schemaname = 'public' loop
      execute format('alter sequence %I restart', name);
    end loop;
  end $$`;

const emptying = new Map<string, pg.Client>();

async function emptyDatabase(url: string): Promise<void> {
  const known = emptying.get(url);
  const client = known ?? new pg.Client(url);
  if (known === undefined) await client.connect();
  emptying.set(url, client);
  await client.query(EMPTY);
}

async function runOn(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(sql);
  await client.end();
}
