/** The databases that a bench uses: files of SQLite, and a PostgreSQL server that is started for it. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startPostgres } from '../../test/support/postgres.ts';
import { createDatabase } from '../postgres-database.ts';
import { findParent, readChildrenMicros, readOwnMicros } from './processes.ts';

export interface Engine {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** Returns the path or the URL of an empty database. */
  readonly create: (name: string) => Promise<string>;
  /** What a server's own vacuum does within a minute, so that it plans for the rows that are there. */
  readonly tidy: (database: string) => Promise<unknown>;
  /** Microseconds of CPU of a server's processes; 0 without a server. */
  readonly micros: () => number;
  readonly countCommits: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

/** PostgreSQL adds up a session's figures when it has been idle for a moment. */
const FIGURES_MS = 1_500;

/** As durable as in production: a commit that has returned survives a power cut. */
export const DURABLE = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  autovacuum: 'on',
  shared_buffers: '256MB',
  max_wal_size: '1GB',
};

export function onSqlite(folder: string): Engine {
  return {
    name: 'SQLite',
    create: async (name) => join(folder, `${name}.db`),
    tidy: async () => {},
    micros: () => 0,
    countCommits: async () => 0,
    stop: async () => {},
  };
}

export async function onPostgres(): Promise<Engine> {
  const { toUrl, stop } = await startPostgres({ settings: DURABLE });
  const url = toUrl('postgres');
  const run = async (sql: string, database = url) => {
    const client = new pg.Client(database);
    await client.connect();
    return await client.query(sql).finally(() => client.end());
  };
  const ask = async (sql: string) => (await run(sql)).rows[0].value;
  const server = findParent(await ask('select pg_backend_pid() as value')) ?? 0;
  return {
    name: 'PostgreSQL',
    create: () => createDatabase(url),
    micros: () => readOwnMicros(server) + readChildrenMicros(server),
    tidy: (database) => run('vacuum analyze', database),
    countCommits: async () => {
      await sleep(FIGURES_MS);
      return await ask('select sum(xact_commit)::int as value from pg_stat_database');
    },
    stop,
  };
}
