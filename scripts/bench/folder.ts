/**
 * What 20,000 files that are put into a watched folder at once take: until the last one is read and filed, how long
 * one waits that comes alone meanwhile, memory, and what the same folder costs when nothing changes.
 * `npm run bench -- folder`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { openStore } from '../../src/store/engine/open.ts';
import { makeDomains } from './beside/domains.ts';
import { readUsage } from './cpu.ts';
import { print } from './print.ts';
import { renderReport } from './report-xml.ts';

const FILES = 20_000;
const RECORDS = 3;
const ALONE_MS = 10_000;
const IDLE_MS = 60_000;
const LOOK_MS = 100;
const BIN = fileURLToPath(new URL('../../bin/plumbline.js', import.meta.url));

export async function benchFolder(files = FILES): Promise<void> {
  for (const done of ['move', 'leave'] as const) {
    const root = await mkdtemp(join(tmpdir(), 'plumbline-bench-'));
    try {
      await measure({ root, files, done });
    } finally {
      await rm(root, { recursive: true });
    }
  }
}

interface Given {
  readonly root: string;
  readonly files: number;
  readonly done: 'move' | 'leave';
}

async function measure({ root, files, done }: Given): Promise<void> {
  const [database, folder] = [join(root, 'folder.db'), join(root, 'drop')];
  await makeDomains(database);
  mkdirSync(folder);
  for (let number = 1; number <= files; number += 1) write(folder, `${number}`, number);
  const watch = { PLUMBLINE_WATCH: folder, PLUMBLINE_WATCH_DONE: done };
  await working({ PLUMBLINE_DATABASE: database, ...watch }, async (pid) => {
    const begun = performance.now();
    const memory: number[] = [];
    const took = async (count: () => Promise<number>) => {
      while ((await count()) < files) {
        memory.push(readUsage(pid).megabytes);
        await sleep(1_000);
      }
      return ((performance.now() - begun) / 1_000).toFixed(0);
    };
    const waits = done === 'move' ? measureWaits(folder, files) : undefined;
    const read = await took(() => countDone(database));
    const filed = done === 'move' ? await took(() => countFiles(join(folder, 'Processed'))) : '–';
    print(`${files} files, ${done}: read after ${read} s, filed after ${filed} s`);
    print(`  memory ${Math.max(...memory).toFixed(0)} MB at most`);
    if (waits !== undefined) print(`  one that came alone was filed after ${await waits.stop()} s`);
    print(`  then ${await toIdleShare(pid)} % of a core`);
  });
}

function write(folder: string, name: string, number: number): void {
  const path = join(folder, `${name}.xml.gz`);
  writeFileSync(path, gzipSync(renderReport({ number, records: RECORDS }), { level: 1 }));
}

/** Puts one file after another into the folder, each when the one before it was filed. */
function measureWaits(folder: string, files: number) {
  const waits: number[] = [];
  let isStopped = false;
  const running = (async () => {
    for (let n = 1; !isStopped; n += 1) {
      await sleep(ALONE_MS);
      const begun = performance.now();
      write(folder, `alone-${n}`, files + n);
      while (!existsSync(join(folder, 'Processed', `alone-${n}.xml.gz`))) await sleep(LOOK_MS);
      waits.push((performance.now() - begun) / 1_000);
    }
  })();
  return {
    stop: async () => {
      isStopped = true;
      await running;
      return `${waits.map((wait) => wait.toFixed(1)).join(', ')}`;
    },
  };
}

async function working(env: NodeJS.ProcessEnv, use: (pid: number) => Promise<void>): Promise<void> {
  const own = { PLUMBLINE_LOG_LEVEL: 'warn' };
  const worker = spawn(process.execPath, [BIN, 'work'], {
    env: { ...process.env, ...own, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(worker, 'exit');
  try {
    await use(Number(worker.pid));
  } finally {
    worker.kill('SIGTERM');
    await ended;
  }
}

async function countDone(database: string): Promise<number> {
  const store = await openStore(database);
  try {
    const { mails } = await store.db
      .selectFrom('inbox_mail')
      .select((eb) => eb.fn.countAll().as('mails'))
      .where('state', '=', 'done')
      .executeTakeFirstOrThrow();
    return Number(mails);
  } finally {
    await store.close();
  }
}

async function countFiles(folder: string): Promise<number> {
  return (await readdir(folder).catch(() => [])).length;
}

async function toIdleShare(pid: number): Promise<string> {
  await sleep(10_000);
  const before = readUsage(pid).micros;
  await sleep(IDLE_MS);
  return (((readUsage(pid).micros - before) / 1_000 / IDLE_MS) * 100).toFixed(2);
}
