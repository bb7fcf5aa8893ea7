import { inject } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import { divide, joinNodes } from './citus-cluster.ts';
import { runOn } from './postgres.ts';

/* Databases on a cluster of Citus: each is one database of its coordinator and one of each worker. */

export const IS_CITUS = process.env['TEST_STORE_ON'] === 'citus';

/** The URL of a new one with the product's tables, divided. */
export async function makeCitus(name: string): Promise<string> {
  const servers = inject('postgres').split(' ');
  for (const url of servers) await runOn(url, `create database ${name}`);
  return await makeCluster(servers.map((url) => url.replace(/[^/]+$/, name)));
}

/** The same of empty databases. */
export async function makeCluster(urls: readonly string[]): Promise<string> {
  await joinNodes(urls);
  const [url = ''] = urls;
  await (await openStore(url)).close();
  await divide(url);
  return url;
}
