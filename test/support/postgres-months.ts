import { readFileSync } from 'node:fs';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import startServer from './postgres-server.ts';

const MONTHS = new URL('../../docs/operate/postgres/months.sql', import.meta.url);

/** Starts the server, whose databases have reports and conflicts by months. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let template = '';
  const provide: TestProject['provide'] = (key, value) => {
    template = value;
    project.provide(key, value);
  };
  const stop = await startServer({ provide });
  const client = new pg.Client(template);
  await client.connect();
  await client.query(readFileSync(MONTHS, 'utf8'));
  await client.end();
  return stop;
}
