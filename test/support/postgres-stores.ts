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
  readonly emptying: pg.Client;
  /** Names of tables, columns and triggers, before the first test. */
  readonly schema: string;
}

const free: Kept[] = [];
let made = 0;

/** An empty store. Closing it gives it back. */
export async function takeStore(): Promise<Store> {
  const kept = free.pop() ?? (await makeStore());
  return { ...kept.store, close: () => giveBack(kept) };
}

/** The URL of a new, empty database with the product's tables. `dropPostgresDatabase` removes it. */
export async function makePostgresDatabase(template = 'postgres'): Promise<string> {
  made += 1;
  const name = `test_${process.pid}_${made}`;
  await runOn(toUrl('template1'), `create database ${name} template ${template}`);
  return toUrl(name);
}

/** Removes a database, whoever is still connected to it. */
export async function dropPostgresDatabase(url: string): Promise<void> {
  await runOn(toUrl('template1'), `drop database if exists ${toName(url)} with (force)`);
}

/** Runs a statement on a connection of its own. */
export async function runOn(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const toUrl = (database: string) => inject('postgres').replace(/[^/]+$/, database);
/** The name of a database, from its URL. */
export const toName = (url: string): string => url.replace(/^.*\//, '');

async function makeStore(): Promise<Kept> {
  const url = await makePostgresDatabase();
  const emptying = new pg.Client(url);
  await emptying.connect();
  const schema = await readSchema(emptying);
  return { url, emptying, schema, store: await openStore(url, { maxConnections: 6 }) };
}

/** A test that fails may leave the schema changed: no other test gets that database. */
async function giveBack(kept: Kept): Promise<void> {
  const { emptying, schema, store, url } = kept;
  if ((await readSchema(emptying)) === schema) {
    await emptying.query(EMPTY);
    free.push(kept);
    return;
  }
  await store.close();
  await emptying.end();
  await dropPostgresDatabase(url);
}

async function readSchema(client: pg.Client): Promise<string> {
  const { rows } = await client.query(`
    select (select string_agg(relname, ' ' order by relname) from pg_class
        where relnamespace = 'public'::regnamespace) as tables,
      (select count(*) from pg_attribute join pg_class on pg_class.oid = attrelid
        where relnamespace = 'public'::regnamespace and not attisdropped) as columns,
      (select count(*) from pg_trigger where not tgisinternal) as triggers`);
  return JSON.stringify(rows);
}

/** Only what has rows is emptied. The space of many rows is given back at once, as no vacuum runs. */
const EMPTY = `
  do $$ declare named record; begin
    set local session_replication_role = replica;
    for named in select relname as name, pg_relation_size(oid) as bytes from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not like 'kysely%'
    loop
      continue when named.bytes = 0;
      if named.bytes > 200000 then
        execute format('truncate %I cascade', named.name);
      else
        execute format('delete from %I', named.name);
      end if;
    end loop;
    perform setval(format('%I', sequencename)::regclass, 1, false) from pg_sequences
      where schemaname = 'public' and last_value is not null;
  end $$`;
