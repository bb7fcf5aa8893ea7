import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { openStore } from '../../src/store/connection/open.ts';
import { startPostgres } from '../support/postgres.ts';

export interface Databases {
  /** The URL of a new database with the product's tables and no rows, which takes less time than one without. */
  readonly create: () => Promise<string>;
  /** The URL of a new database without tables. */
  readonly createBare: () => Promise<string>;
  readonly stop: () => Promise<void>;
}

/** A server for the targets of moves. */
export async function startDatabases(): Promise<Databases> {
  const server = await startPostgres();
  const createFrom = async (template: string) => {
    const name = `move_${randomBytes(6).toString('hex')}`;
    await query(server.toUrl('template1'), `create database ${name} template ${template}`);
    return server.toUrl(name);
  };
  await (await openStore(server.toUrl('postgres'))).close();
  const create = () => createFrom('postgres');
  return { create, createBare: () => createFrom('template0'), stop: server.stop };
}

/** Runs one statement, and returns its rows. */
export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
