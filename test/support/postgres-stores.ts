import pg from 'pg';
import { inject } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { IS_CITUS, makeCitus } from './citus-databases.ts';
import { runOn } from './postgres.ts';

export { runOn };

/*
 * Stores on PostgreSQL for tests. Making a database and connecting takes longer than most tests, so a store that
 * a test has closed is emptied and given to the next one.
 */

interface Kept {
  readonly url: string;
  readonly client: pg.Client;
  /** Names of tables, numbers of columns, triggers and migrations, before the first test. */
  readonly schema: string;
}

const freeDatabases: Kept[] = [];
const freeStores: { readonly kept: Kept; readonly store: Store }[] = [];
let made = 0;

/** An empty store. Closing it gives it back, once: whoever serves it and whoever has opened it close it. */
export async function takeStore(): Promise<Store> {
  const taken = freeStores.pop() ?? (await makeStore());
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    if (await isEmptied(taken.kept)) freeStores.push(taken);
    else await taken.store.close();
  };
  return { ...taken.store, close };
}

async function makeStore() {
  const kept = await makeDatabase();
  return { kept, store: await openStore(kept.url, { maxConnections: 6 }) };
}

/** The URL of an empty database with the product's tables, and what gives it back. */
export async function takeDatabase() {
  const kept = freeDatabases.pop() ?? (await makeDatabase());
  const giveBack = async () => {
    if (await isEmptied(kept)) freeDatabases.push(kept);
  };
  return { url: kept.url, giveBack };
}

/** The URL of a new copy of a database, which goes when the server stops: dropping one takes longer. */
export async function copyDatabase(template: string): Promise<string> {
  made += 1;
  const name = `test_${process.pid}_${made}`;
  if (IS_CITUS && template === 'postgres') return await makeCitus(name);
  await runOn(toUrl('template1'), `create database ${name} template ${template}`);
  return toUrl(name);
}

const toUrl = (database: string) =>
  (inject('postgres').split(' ')[0] as string).replace(/[^/]+$/, database);
/** The name of a database, from its URL. */
export const toName = (url: string): string => url.replace(/^.*\//, '');

async function makeDatabase(): Promise<Kept> {
  const url = await copyDatabase('postgres');
  const client = new pg.Client(url);
  // A test may take the database away.
  client.on('error', () => {});
  await client.connect();
  return { url, client, schema: await readSchema(client) };
}

/** A test that fails may leave the schema changed, or no database: no other test gets that. */
async function isEmptied({ client, schema }: Kept): Promise<boolean> {
  try {
    await client.query(END_OTHERS);
    if ((await readSchema(client)) !== schema) return false;
    await client.query(IS_CITUS ? EMPTY_CITUS : EMPTY);
    return true;
  } catch {
    return false;
  }
}

async function readSchema(client: pg.Client): Promise<string> {
  const { rows } = await client.query(`
    select (select string_agg(relname, ' ' order by relname) from pg_class
        where relnamespace = 'public'::regnamespace) as tables,
      (select count(*) from pg_attribute join pg_class on pg_class.oid = attrelid
        where relnamespace = 'public'::regnamespace and not attisdropped) as columns,
      (select count(*) from pg_trigger where not tgisinternal) as triggers,
      (select count(*) from kysely_migration) as migrations`);
  return JSON.stringify(rows);
}

/** Ends what a test left connected, but not the store that the next test gets. */
const END_OTHERS = `select pg_terminate_backend(pid, 5000) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`;

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

/** Sizes say nothing of a table whose rows are on other servers. What refers to a domain goes before it. */
const EMPTY_CITUS = `
  do $$ declare named text; has_rows boolean; begin
    set local session_replication_role = replica;
    for named in select tablename from pg_tables where schemaname = 'public' and tablename not like 'kysely%'
      order by array_position(array['conflict', 'report', 'domain', 'account'], tablename::text) nulls first
    loop
      execute format('select exists (select 1 from %I)', named) into has_rows;
      if has_rows then execute format('delete from %I', named); end if;
    end loop;
    perform setval(format('%I', sequencename)::regclass, 1, false) from pg_sequences
      where schemaname = 'public' and last_value is not null;
  end $$`;
