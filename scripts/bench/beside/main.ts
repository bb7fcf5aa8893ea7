/**
 * How long a polling partner waits while `plumbline ingest` runs at full speed, compared with a server that has
 * nothing else to do, in one run on one machine: `npm run bench -- beside`, `-- beside sqlite`, `-- beside postgres`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { startBenchServer } from '../postgres/server.ts';
import { print } from '../print.ts';
import { startPlumbline } from '../race.ts';
import { renderReport } from '../report-xml.ts';
import { makeDomains, toRequests } from './domains.ts';
import { poll } from './poll.ts';
import { tell } from './tell.ts';

const SMALL = { reports: 10_000, records: 3 };
const LARGE_RECORDS = 100_000;
const IDLE_MS = 10_000;
const BIN = fileURLToPath(new URL('../../../bin/plumbline.js', import.meta.url));

export async function benchBeside(engine = ''): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'));
  try {
    await writeSources(folder);
    if ('sqlite'.includes(engine)) await measure('SQLite', join(folder, 'beside.db'), folder);
    if ('postgres'.includes(engine)) await measureOnPostgres(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function writeSources(folder: string): Promise<void> {
  for (const name of ['first', 'small', 'large']) await mkdir(join(folder, name));
  const write = (name: string, number: number, records: number) =>
    writeFile(
      join(folder, name, `${number}.xml.gz`),
      gzipSync(renderReport({ number, records }), { level: 1 }),
    );
  for (let number = 1; number <= SMALL.reports; number++)
    await write('small', number, SMALL.records);
  for (let number = 1; number <= 200; number++) await write('first', -number, SMALL.records);
  await write('large', 0, LARGE_RECORDS);
}

async function measureOnPostgres(folder: string): Promise<void> {
  const server = await startBenchServer();
  try {
    await measure('PostgreSQL', server.url, folder);
  } finally {
    await server.stop();
  }
}

async function measure(engine: string, database: string, folder: string): Promise<void> {
  const { key, domainIds } = await makeDomains(database);
  await ingest(database, join(folder, 'first'));
  const { server } = await startPlumbline({ path: database }, '32');
  const requests = await toRequests(server.url, key, domainIds);
  print(`\n${engine}: milliseconds until an answer, of 100 requests a second`);
  const idle = await poll(requests, sleep(IDLE_MS));
  tell('idle', idle, idle);
  for (const name of ['small', 'large']) {
    const startedAt = performance.now();
    const busy = await poll(requests, ingest(database, join(folder, name)));
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const what = name === 'small' ? `${SMALL.reports} small reports` : 'one report of 60 MB';
    tell(`beside ${what} (${seconds} s)`, busy, idle);
  }
  server.stop();
}

async function ingest(database: string, folder: string): Promise<void> {
  const env = { ...process.env, PLUMBLINE_DATABASE: database };
  const child = spawn(process.execPath, [BIN, 'ingest', '--quiet', folder], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [status] = await once(child, 'exit');
  if (status !== 0) throw new Error(`plumbline ingest ended with ${status}.`);
}
