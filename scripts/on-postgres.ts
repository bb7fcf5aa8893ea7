/**
 * Runs a command while a PostgreSQL server runs: `npm run --silent on-postgres -- npm run workflows`. Every Plumbline
 * that the command serves (served-plumbline.ts) then has an empty database of that server; `SERVED_DATABASE` is the URL
 * of one for a command that serves by itself.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startPostgres } from '../test/support/postgres.ts';
import { createDatabase } from './postgres-database.ts';

const [command = '', ...args] = process.argv.slice(2);
const server = await startPostgres();
try {
  const SERVED_POSTGRES = server.toUrl('postgres');
  const SERVED_DATABASE = await createDatabase(SERVED_POSTGRES);
  const env = { ...process.env, SERVED_POSTGRES, SERVED_DATABASE };
  const [status] = await once(spawn(command, args, { env, stdio: 'inherit' }), 'close');
  process.exitCode = status ?? 1;
} finally {
  await server.stop();
}
