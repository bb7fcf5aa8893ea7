import type { TestProject } from 'vitest/node';
import { openStore } from '../../src/store/connection/open.ts';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the server's own database, of which test databases are copies. */
    postgres: string;
  }
}

/** Starts one server for all tests of a run, with a migrated database to make copies of. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  const template = server.toUrl('postgres');
  await (await openStore(template)).close();
  project.provide('postgres', template);
  return server.stop;
}
