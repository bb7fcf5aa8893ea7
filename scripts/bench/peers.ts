import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startMeasured, startProgram } from './cpu.ts';
import type { BenchDatabase } from './databases.ts';
import { print } from './print.ts';
import type { Contender } from './race.ts';
import { toExample, toLoad } from './scenarios.ts';

/*
 * Servers written by hand on the same database, with the features of the API that cost something: see the
 * head of each. Their packages are installed when they are first needed.
 */

const FOLDER = fileURLToPath(new URL('./peers/', import.meta.url));
const VENV = join(tmpdir(), 'plumbline-bench-venv');

/** The peers whose runtimes are there. Throws when one does not answer as Plumbline does. */
export async function findPeers(
  database: BenchDatabase,
  plumbline: Contender,
): Promise<Contender[]> {
  const found = await Promise.all([startFastify(database), startFastapi(database)]);
  const peers = found.filter((peer) => peer !== undefined);
  for (const peer of peers) await holdToAnswers(peer, plumbline, database);
  return peers;
}

/** The plainest server of the same packages, as their READMEs show. */
export async function startPlain({ path }: BenchDatabase): Promise<Contender> {
  return { name: 'plain', server: await startMeasured('./plain.ts', { BENCH_DATABASE: path }) };
}

async function startFastify({ path }: BenchDatabase): Promise<Contender | undefined> {
  const isInstalled =
    existsSync(join(FOLDER, 'node_modules')) || runs('npm', ['ci', '--prefix', FOLDER]);
  if (!isInstalled) return skip('Fastify', 'npm ci failed');
  const server = await startMeasured('./peers/fastify.mjs', { BENCH_DATABASE: path });
  return { name: 'Fastify, better-sqlite3', server };
}

async function startFastapi({ path }: BenchDatabase): Promise<Contender | undefined> {
  if (process.platform !== 'linux') return skip('FastAPI', 'its CPU time is read from /proc');
  if (!existsSync(VENV) && !runs('python3', ['-m', 'venv', VENV]))
    return skip('FastAPI', 'no venv');
  const requirements = join(FOLDER, 'requirements.txt');
  if (!runs(join(VENV, 'bin/pip'), ['install', '-q', '-r', requirements]))
    return skip('FastAPI', 'pip install failed');
  const program = [join(VENV, 'bin/python'), join(FOLDER, 'fastapi_app.py')];
  const server = await startProgram(program, { BENCH_DATABASE: path });
  return { name: 'FastAPI, sqlite3, orjson', server };
}

function runs(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

function skip(name: string, why: string): undefined {
  print(`${name} is left out: ${why}.`);
  return undefined;
}

/** A peer that answers something else than Plumbline, or answers anybody, is no comparison. */
async function holdToAnswers(peer: Contender, plumbline: Contender, database: BenchDatabase) {
  const { paths, headers } = toLoad(database, { page: 'random' });
  const list = paths.path.replace('?offset=', '');
  const nobodys = list.replace(/[0-9a-f]{8}-/, '00000000-');
  const asked = [list, `${list}?offset=0`, toExample(paths), `${list}?limit=200&offset=7`];
  for (const path of [...asked, `${list}?limit=201`, `${list}?offset=-1`, nobodys]) {
    const [is, should] = [await ask(peer, path, headers), await ask(plumbline, path, headers)];
    if (is !== should) throw new Error(`${peer.name} answers ${path} with ${is}, not ${should}`);
  }
  if ((await ask(peer, list, {})) !== '401') throw new Error(`${peer.name} needs no key.`);
}

/** The status, and the body of a page. Bodies of errors have other words. */
async function ask({ server }: Contender, path: string, headers: Readonly<Record<string, string>>) {
  const answer = await fetch(server.url + path, { headers });
  const body = await answer.text();
  return answer.ok ? `${answer.status} ${body}` : `${answer.status}`;
}
