/**
 * What a mail costs by each door that is open, from its arrival until its report is stored, as a multiple of what `plumbline ingest`
 * of the same files costs; how long it takes until the last is stored and filed, how long those waited at most that came alone to a
 * Maildir meanwhile, and memory. `npm run bench -- doors [mails] [door]`; IMAP is measured as root, with Debian's
 * dovecot-imapd.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBenchServer } from '../postgres/server.ts';
import { print } from '../print.ts';
import { DOORS, type Door, type FileKind, writeFiles } from './doors.ts';
import { type Cost, Measuring, type Taken } from './measuring.ts';

const MAILS = 2_000;
/** The number of the mail that is not measured: most modules are loaded for the first one. */
const FIRST = 0;

export async function benchDoors([
  mails = `${MAILS}`,
  only = '',
]: readonly string[]): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'plumbline-bench-'));
  const wanted = DOORS.filter(({ name }) => only === '' || name === only);
  const bench = new Bench(root, Number(mails), wanted);
  try {
    print(`\n${mails} mails by each door, compared with ingest of the same files`);
    await bench.run('SQLite', new Measuring((name) => join(root, `${name}.db`)));
    const server = await startBenchServer();
    await bench.run('PostgreSQL', await Measuring.onServer(server)).finally(server.stop);
  } finally {
    await rm(root, { recursive: true });
  }
}

class Bench {
  readonly #root: string;
  readonly #mails: number;
  readonly #doors: readonly Door[];

  constructor(root: string, mails: number, doors: readonly Door[]) {
    this.#root = root;
    this.#mails = mails;
    this.#doors = doors;
  }

  async run(engine: string, measuring: Measuring): Promise<void> {
    print(`  ${engine}`);
    for (const kind of ['mail', 'report'] as const) {
      const doors = this.#doors.filter((door) => door.kind === kind && existsSync(door.needs));
      if (doors.length === 0) continue;
      const ingested = await this.#ingest(kind, measuring);
      tell(`ingest of ${kind}s`, ingested, ingested);
      for (const door of doors) {
        const taken = await this.#take(door, measuring);
        tell(door.name, taken, ingested);
        tellTimes(taken);
      }
    }
  }

  get #numbers(): number[] {
    return Array.from({ length: this.#mails }, (_, i) => FIRST + 1 + i);
  }

  /** Without the start of the command, which is measured with one file. */
  async #ingest(kind: FileKind, measuring: Measuring): Promise<Cost> {
    const [one, all] = [await this.#folder(), await this.#folder()];
    await writeFiles(one, kind, [FIRST]);
    await writeFiles(all, kind, this.#numbers);
    return await measuring.ingest(one, { folder: all, mails: this.#mails });
  }

  async #take(door: Door, measuring: Measuring): Promise<Taken> {
    const open = await door.open(await this.#folder());
    try {
      const [first, numbers] = [FIRST, this.#numbers];
      return await measuring.take(door.name, open, {
        first,
        numbers,
        folder: await this.#folder(),
      });
    } finally {
      await open.close();
    }
  }

  #made = 0;

  async #folder(): Promise<string> {
    this.#made += 1;
    const folder = join(this.#root, `${this.#made}`);
    await mkdir(folder);
    return folder;
  }
}

function tell(what: string, { processMs, serverMs, commits }: Cost, ingest: Cost): void {
  const times = (processMs + serverMs) / (ingest.processMs + ingest.serverMs);
  const server =
    serverMs === 0
      ? ''
      : `, and ${serverMs.toFixed(2)} ms of PostgreSQL’s; ${commits.toFixed(2)} commits`;
  print(`    ${what}: ${processMs.toFixed(2)} ms of CPU a mail${server}; ${times.toFixed(2)} ×`);
}

function tellTimes({ storedS, filedS, aloneS, megabytes }: Taken): void {
  const filed = filedS === undefined ? '' : `, filed after ${filedS.toFixed(0)} s`;
  const alone =
    aloneS.length === 0
      ? ''
      : `; ${aloneS.length} that came alone after ${Math.max(...aloneS).toFixed(1)} s at most`;
  const memory = megabytes.map((one) => one.toFixed(0)).join(' and ');
  print(`      stored after ${storedS.toFixed(0)} s${filed}${alone}; ${memory} MB at most`);
}
