import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { print } from './compare.ts';
import type { Asked } from './scenarios.ts';
import { type Server, startServer, toScript } from './servers.ts';

const FOLDER = toScript('peers/');

/**
 * Starts the server that is written by hand, which copies the list from Plumbline before it serves. Its packages are installed
 * when they are first needed; undefined when they cannot be. Throws when it answers something else than Plumbline.
 */
export async function startPeer(asked: Asked): Promise<Server | undefined> {
  const isThere = existsSync(join(FOLDER, 'node_modules'));
  if (!isThere && spawnSync('npm', ['ci', '--prefix', FOLDER]).status !== 0) {
    print('Fastify is left out: npm ci failed.');
    return undefined;
  }
  const list = `/v1/external/domains/${asked.domainId}/reports`;
  const env = { BENCH_URL: asked.url, BENCH_LIST: list, BENCH_KEY: asked.key };
  const peer = await startServer([join(FOLDER, 'fastify.mjs')], env);
  const headers = { authorization: `Bearer ${asked.key}` };
  for (const query of ['', '?offset=0', '?limit=200&offset=7', '?limit=201', '?offset=-1']) {
    const is = await readAnswer(peer.url + list + query, headers);
    const should = await readAnswer(asked.url + list + query, headers);
    if (is !== should) throw new Error(`Fastify answers ${query} with ${is}, not ${should}.`);
  }
  if ((await readAnswer(peer.url + list, {})) !== '401') throw new Error('Fastify needs no key.');
  return peer;
}

/** The status, and the body of a page. Bodies of errors have other words. */
async function readAnswer(url: string, headers: Readonly<Record<string, string>>) {
  const answer = await fetch(url, { headers });
  const body = await answer.text();
  return answer.ok ? `${answer.status} ${body}` : `${answer.status}`;
}
