import { readFileSync } from 'node:fs';
import pg from 'pg';
import { inject } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';

/* Databases on a cluster of Citus: each is one database of its coordinator and one of each worker. */

export const IS_CITUS = process.env['TEST_STORE_ON'] === 'citus';

const DIVIDE = new URL('../../docs/operate/postgres/citus.sql', import.meta.url);

/** The URL of a new one with the product's tables, divided as an operator does it. */
export async function makeCitus(name: string): Promise<string> {
  const urls = inject('postgres').split(' ');
  for (const url of urls) await run(url, [`create database ${name}`]);
  return await makeCluster(urls.map((url) => url.replace(/[^/]+$/, name)));
}

/** Makes a cluster of empty databases, of which the first one is the coordinator's; returns its URL. */
export async function makeCluster(urls: readonly string[]): Promise<string> {
  const all = urls.map((url) => new URL(url));
  for (const url of urls) await run(url, ['create extension citus']);
  const added = all.slice(1).map(({ port }) => `select citus_add_node('127.0.0.1', ${port})`);
  const own = `select citus_set_coordinator_host('127.0.0.1', ${all[0]?.port})`;
  const [url = ''] = urls;
  await run(url, [own, ...added]);
  await (await openStore(url)).close();
  await run(url, [readFileSync(DIVIDE, 'utf8')]);
  return url;
}

async function run(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
