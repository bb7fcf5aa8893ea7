import { randomBytes } from 'node:crypto';
import { openStore } from '../../src/store/engine/open.ts';
import { startPostgres } from '../support/postgres.ts';
import { runOn } from '../support/postgres-stores.ts';

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
    await runOn(server.toUrl('template1'), `create database ${name} template ${template}`);
    return server.toUrl(name);
  };
  await (await openStore(server.toUrl('postgres'))).close();
  const create = () => createFrom('postgres');
  return { create, createBare: () => createFrom('template0'), stop: server.stop };
}
