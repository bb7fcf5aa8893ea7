import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { openStore } from '../../../src/store/engine/open.ts';
import { makeDomains } from '../beside/domains.ts';
import type { BenchServer } from '../postgres/server.ts';
import { readChildrenMicros, readOwnMicros, readPeaks } from '../processes.ts';
import { type OpenDoor, openMaildir } from './doors.ts';

export const BIN = fileURLToPath(new URL('../../../bin/plumbline.js', import.meta.url));
const LOOK_MS = 300;
/** The pause before each mail that comes alone. */
const ALONE_MS = 5_000;
/** PostgreSQL adds up a session's figures when it has been idle for a moment. */
const FIGURES_MS = 1_500;

/** Of one mail. */
export interface Cost {
  readonly processMs: number;
  readonly serverMs: number;
  readonly commits: number;
}

/** Sums. */
interface Figures {
  readonly serverMicros: number;
  readonly commits: number;
}

interface Mails {
  /** The number of a mail that is not counted. */
  readonly first: number;
  readonly numbers: readonly number[];
  /** An empty folder. */
  readonly folder: string;
}

/** What a door has taken. */
export interface Taken extends Cost {
  readonly storedS: number;
  readonly filedS: number | undefined;
  /** How long each mail waited that came alone. */
  readonly aloneS: readonly number[];
  /** Of the process and of its children that still run, at their peaks. */
  readonly megabytes: readonly number[];
}

/** Measures commands, each of them with a database of its own. */
export class Measuring {
  readonly #toDatabase: (name: string) => string | Promise<string>;
  readonly #read: () => Promise<Figures>;
  #databases = 0;

  constructor(
    toDatabase: (name: string) => string | Promise<string>,
    read: () => Promise<Figures> = async () => ({ serverMicros: 0, commits: 0 }),
  ) {
    this.#toDatabase = toDatabase;
    this.#read = read;
  }

  static async onServer({ url, micros }: BenchServer): Promise<Measuring> {
    const ask = async (sql: string) => {
      const client = new pg.Client(url);
      await client.connect();
      return await client.query(sql).finally(() => client.end());
    };
    const toDatabase = async (name: string) => {
      await ask(`create database ${name}`);
      return Object.assign(new URL(url), { pathname: `/${name}` }).toString();
    };
    return new Measuring(toDatabase, async () => {
      await sleep(FIGURES_MS);
      const { rows } = await ask('select sum(xact_commit)::int as commits from pg_stat_database');
      return { serverMicros: micros(), commits: rows[0].commits };
    });
  }

  async #database(): Promise<string> {
    this.#databases += 1;
    const database = await this.#toDatabase(`bench_${this.#databases}`);
    await makeDomains(database);
    return database;
  }

  async ingest(
    first: string,
    { folder, mails }: { readonly folder: string; readonly mails: number },
  ): Promise<Cost> {
    const database = await this.#database();
    // The first start compiles.
    await this.#runIngest(database, first);
    const start = await this.#runIngest(database, first);
    const before = await this.#read();
    const all = await this.#runIngest(database, folder);
    return toCost(((all - start) * mails) / (mails - 1), [before, await this.#read()], mails);
  }

  /** Microseconds of the process and of those that it started. */
  async #runIngest(database: string, folder: string): Promise<number> {
    const before = readEndedMicros();
    const child = spawn(process.execPath, [BIN, 'ingest', '--quiet', folder], {
      env: { ...process.env, PLUMBLINE_DATABASE: database },
      stdio: 'ignore',
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`ingest ended with ${code}.`);
    return readEndedMicros() - before;
  }

  async take(name: string, door: OpenDoor, { first, numbers, folder }: Mails): Promise<Taken> {
    const [database, alone] = [await this.#database(), await openMaildir(folder)];
    const mails = numbers.length;
    const child = spawn(process.execPath, [BIN, 'work', '--json'], {
      env: {
        ...process.env,
        ...{ PLUMBLINE_DATABASE: database, PLUMBLINE_DNS_CHECKS: 'off' },
        ...{ PLUMBLINE_LOG_LEVEL: 'warn', ...door.env },
        PLUMBLINE_WATCH: [door.env, alone.env]
          .flatMap((env) => env['PLUMBLINE_WATCH'] ?? [])
          .join(),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    const pid = Number(child.pid);
    const micros = () => readOwnMicros(pid) + readChildrenMicros(pid);
    try {
      await once(child.stdout, 'data');
      // A port is not open at once.
      const isTaken = () =>
        door.bring([first]).then(
          () => true,
          () => false,
        );
      while (!(await isTaken())) await sleep(LOOK_MS);
      await untilDone(database, { name, mails: 1, alone });
      const [before, begunMicros] = [await this.#read(), micros()];
      const begun = performance.now();
      const toS = () => (performance.now() - begun) / 1_000;
      const single = bringAlone(alone, first + mails + 1);
      await door.bring(numbers);
      await untilDone(database, { name, mails: mails + 1, alone });
      const [processMicros, storedS] = [micros() - begunMicros, toS()];
      const cost = toCost(processMicros, [before, await this.#read()], mails);
      while (((await door.countLeft?.()) ?? 0) > 0) await sleep(LOOK_MS);
      const filedS = door.countLeft && toS();
      return { ...cost, storedS, filedS, aloneS: await single.stop(), megabytes: readPeaks(pid) };
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
  }
}

/** Brings a mail again and again, when the one before it has been filed. */
function bringAlone({ bring, countLeft }: OpenDoor, from: number) {
  const waits: number[] = [];
  const stopping = new AbortController();
  const running = (async () => {
    for (let number = from; ; number += 1) {
      await sleep(ALONE_MS, undefined, stopping).catch(() => undefined);
      if (stopping.signal.aborted) return waits;
      const begun = performance.now();
      await bring([number]);
      while (((await countLeft?.()) ?? 0) > 0) await sleep(LOOK_MS);
      waits.push((performance.now() - begun) / 1_000);
    }
  })();
  const stop = () => {
    stopping.abort();
    return running;
  };
  return { stop };
}

function toCost(
  processMicros: number,
  [before, after]: readonly [Figures, Figures],
  mails: number,
): Cost {
  return {
    processMs: processMicros / 1_000 / mails,
    serverMs: (after.serverMicros - before.serverMicros) / 1_000 / mails,
    commits: (after.commits - before.commits) / mails,
  };
}

/** Of this process's children that have ended, and of theirs. */
function readEndedMicros(): number {
  return readChildrenMicros(process.pid);
}

async function untilDone(
  database: string,
  {
    name,
    mails,
    alone,
  }: { readonly name: string; readonly mails: number; readonly alone: OpenDoor },
): Promise<void> {
  const store = await openStore(database);
  const select = store.db
    .selectFrom('inbox_mail')
    .where('state', '=', 'done')
    .where('door', '!=', `folder:${alone.env['PLUMBLINE_WATCH']}`);
  const count = () => select.select((eb) => eb.fn.countAll().as('mails')).executeTakeFirstOrThrow();
  for (let done = 0; done < mails; done = Number((await count()).mails)) await sleep(LOOK_MS);
  const results = await select.select('result').distinct().execute();
  if (results.some(({ result }) => result !== 'processed'))
    throw new Error(`Mails by ${name} were not read as reports.`);
  await store.close();
}
