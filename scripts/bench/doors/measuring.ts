import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { openStore } from '../../../src/store/engine/open.ts';
import { makeDomains } from '../beside/domains.ts';
import type { BenchServer } from '../postgres/server.ts';
import { readChildrenMicros, readOwnMicros } from '../processes.ts';

export const BIN = fileURLToPath(new URL('../../../bin/plumbline.js', import.meta.url));
const LOOK_MS = 300;
const REFUSED = Symbol('refused');
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

interface Taken {
  readonly env: NodeJS.ProcessEnv;
  /** Brings a mail to the door that is not counted. */
  readonly first: () => Promise<unknown>;
  /** Brings the mails to the door. */
  readonly bring: () => Promise<unknown>;
  readonly mails: number;
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

  async take(name: string, { env, first, bring, mails }: Taken): Promise<Cost> {
    const database = await this.#database();
    const child = spawn(process.execPath, [BIN, 'work', '--json'], {
      env: {
        ...process.env,
        ...{ PLUMBLINE_DATABASE: database, PLUMBLINE_DNS_CHECKS: 'off' },
        ...{ PLUMBLINE_LOG_LEVEL: 'warn', ...env },
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    const pid = Number(child.pid);
    const micros = () => readOwnMicros(pid) + readChildrenMicros(pid);
    try {
      await once(child.stdout, 'data');
      // A port is not open at once.
      while ((await first().catch(() => REFUSED)) === REFUSED) await sleep(LOOK_MS);
      await untilDone(database, { name, mails: 1 });
      const [before, begunMicros] = [await this.#read(), micros()];
      await bring();
      await untilDone(database, { name, mails: mails + 1 });
      const processMicros = micros() - begunMicros;
      return toCost(processMicros, [before, await this.#read()], mails);
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
  }
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
  { name, mails }: { readonly name: string; readonly mails: number },
): Promise<void> {
  const store = await openStore(database);
  const select = store.db.selectFrom('inbox_mail').where('state', '=', 'done');
  const count = () => select.select((eb) => eb.fn.countAll().as('mails')).executeTakeFirstOrThrow();
  for (let done = 0; done < mails; done = Number((await count()).mails)) await sleep(LOOK_MS);
  const results = await select.select('result').distinct().execute();
  if (results.some(({ result }) => result !== 'processed'))
    throw new Error(`Mails by ${name} were not read as reports.`);
  await store.close();
}
