import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Checkout, serve, spawnCommand } from '../checkout.ts';
import type { Cost } from '../compare.ts';
import type { Engine } from '../engines.ts';
import type { Files } from '../intake.ts';
import { readChildrenMicros, readOwnMicros, readPeakMegabytes } from '../processes.ts';
import type { Door, OpenDoor } from './doors.ts';

const LOOK_MS = 300;
const MAX_MS = 600_000;

/** Mails in files, and a database in which their domain is monitored. */
export interface Brought extends Files {
  readonly engine: Engine;
  readonly checkout: Checkout;
  readonly database: string;
  readonly key: string;
}

/** Opens the door in a process of its own, brings all mails at once, and waits until they are stored and filed. */
export async function takeByDoor({ open }: Door, brought: Brought): Promise<Cost> {
  const { checkout, database, key } = brought;
  const folder = join(dirname(brought.all), 'door');
  await mkdir(folder);
  const door = await open(folder);
  const worker = spawnCommand(checkout, ['work'], { ...door.env, PLUMBLINE_DATABASE: database });
  worker.stdout?.resume();
  const ended = once(worker, 'exit');
  const api = await serve(checkout, database, 0);
  try {
    const countStored = () => countReports(api.url, key);
    return await measure(door, brought, { pid: Number(worker.pid), countStored });
  } finally {
    await api.stop();
    worker.kill();
    await ended;
    await door.close?.();
  }
}

interface Working {
  /** Of the process that has the door. */
  readonly pid: number;
  readonly countStored: () => Promise<number>;
}

async function measure(
  door: OpenDoor,
  { engine, all, start, count }: Brought,
  { pid, countStored }: Working,
): Promise<Cost> {
  const isStored = (reports: number) => async () => (await countStored()) >= reports;
  const isFiled = async () => ((await door.countLeft?.()) ?? 0) === 0;
  // Most modules are loaded for the first mail, and a port is not open at once.
  const first = await listFiles(start);
  await until(
    () =>
      door.bring(first).then(
        () => true,
        () => false,
      ),
    'The door does not open.',
  );
  await until(isStored(1), 'The first mail was not stored.');
  await until(isFiled, 'The first mail was not filed.');
  const readMicros = () => readOwnMicros(pid) + readChildrenMicros(pid);
  const paths = await listFiles(all);
  const [commits, beside, micros, begun] = [
    await engine.countCommits(),
    engine.micros(),
    readMicros(),
    performance.now(),
  ];
  await door.bring(paths);
  await until(isStored(1 + count), 'Not all mails were stored.');
  const stored = performance.now();
  const cost = {
    'µs of CPU a report': (readMicros() - micros) / count,
    'µs of PostgreSQL': (engine.micros() - beside) / count,
    'seconds for all': (stored - begun) / 1_000,
    'MB of memory': readPeakMegabytes(pid),
  };
  await until(isFiled, 'Not all mails were filed.');
  const filedS = (performance.now() - begun) / 1_000;
  const filed = door.countLeft === undefined ? {} : { 'seconds until all are filed': filedS };
  return { ...cost, ...filed, 'commits a mail': ((await engine.countCommits()) - commits) / count };
}

async function listFiles(folder: string): Promise<string[]> {
  return (await readdir(folder)).map((name) => join(folder, name));
}

export async function until(isDone: () => Promise<boolean>, failure: string): Promise<void> {
  const end = performance.now() + MAX_MS;
  while (!(await isDone())) {
    if (performance.now() > end) throw new Error(failure);
    await sleep(LOOK_MS);
  }
}

export async function countReports(url: string, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${url}/v1/external/reports?limit=1`, { headers });
  const { total } = (await answer.json()) as { total: number };
  return total;
}
