import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findFreePort } from '../../scripts/free-port.ts';
import { PATIENCE_MS } from './every-suite.ts';
import { type Binaries, findBinaries, SERVER_USER } from './postgres-binaries.ts';

/** A PostgreSQL server for tests. Its data is lost when its machine stops: nothing waits for a disk. */
export interface TestServer {
  /** The URL of a database of the server. */
  readonly toUrl: (database: string, user?: string) => string;
  readonly port: number;
  /** The folder of its data. */
  readonly folder: string;
  /** Ends the server at once, as a machine does that stops; its data stays. */
  readonly kill: (signal: 'SIGKILL' | 'SIGQUIT') => Promise<void>;
  /** Starts it again on the same port. */
  readonly start: () => Promise<void>;
  /** Ends the server and removes its data. */
  readonly stop: () => Promise<void>;
}

type Settings = Readonly<Record<string, string>>;

interface Options {
  readonly settings?: Settings;
  readonly encoding?: 'UTF8' | 'LATIN1';
  /** Runs when the folder of data is made, before the first start. */
  readonly prepare?: (folder: string) => void;
}

const SETTINGS: Settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  shared_buffers: '64MB',
  max_wal_size: '256MB',
  autovacuum: 'off',
};

/** Starts a server with a data folder of its own. It ends, and its data goes, when this process ends. */
export async function startPostgres({
  settings = {},
  encoding = 'UTF8',
  prepare = () => {},
}: Options = {}): Promise<TestServer> {
  const folder = makeFolder();
  const binaries = await findBinaries();
  await initialise(binaries, folder, encoding);
  prepare(folder);
  return await startOn(folder, binaries, settings);
}

/** Starts a server on a folder of data that is there already, such as the copy of another server's. */
export async function startCopy(folder: string, settings: Settings): Promise<TestServer> {
  return await startOn(folder, await findBinaries(), settings);
}

/** A new folder that belongs to the server's user. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-postgres-'));
  if (SERVER_USER.uid !== undefined) chownSync(folder, SERVER_USER.uid, SERVER_USER.gid);
  return folder;
}

async function startOn(
  folder: string,
  binaries: Binaries,
  settings: Settings,
): Promise<TestServer> {
  const port = await findFreePort();
  const all = { ...SETTINGS, ...settings, port: `${port}`, lc_messages: 'C' };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  let guard = await run(binaries, folder, flags);
  const end = async (signal: 'SIGKILL' | 'SIGQUIT') => {
    signalServer(folder, signal);
    await letGo(guard);
  };
  return {
    toUrl: (database, user = 'plumbline') => `postgres://${user}@127.0.0.1:${port}/${database}`,
    ...{ port, folder },
    kill: end,
    start: async () => {
      guard = await runAgain(() => run(binaries, folder, flags));
    },
    stop: async () => {
      await end('SIGQUIT');
      for (const path of [folder, binaries.copy])
        if (path !== undefined) await rm(path, { recursive: true, force: true });
    },
  };
}

async function initialise({ initdb }: Binaries, folder: string, encoding: string): Promise<void> {
  // The collation of a database made without thought: the product's own must not depend on it.
  const locale =
    encoding === 'UTF8'
      ? ['--locale-provider=icu', '--icu-locale=en-US', '--locale=C']
      : ['--locale=C'];
  const given = ['--auth=trust', `--encoding=${encoding}`, ...locale];
  const child = spawn(
    initdb,
    [`--pgdata=${folder}`, '--username=plumbline', '--no-sync', '--no-instructions', ...given],
    { ...SERVER_USER, env: { LC_ALL: 'C' }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const said = collect(child);
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`initdb failed:\n${said()}`);
}

/**
 * Runs the server, and ends it when its standard input ends: with this process, however that ends. The data of
 * a server that nobody stopped goes with it.
 */
const GUARD = `
  folder=$1; shift
  "$@" </dev/null & server=$!
  read -r kept; kill -QUIT $server 2>/dev/null; wait $server
  [ -n "$kept" ] || rm -rf "$folder"`;

async function run({ postgres }: Binaries, folder: string, flags: readonly string[]) {
  const given = ['-c', GUARD, 'guard', folder, postgres, '-D', folder, ...flags];
  const guard = spawn('/bin/sh', given, {
    ...SERVER_USER,
    cwd: folder,
    env: { LC_ALL: 'C' },
    // A signal to the group of the tests (Ctrl-C) reaches the server by the guard only.
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  guard.stdin?.on('error', () => {});
  const said = collect(guard);
  for (let waited = 0; waited < PATIENCE_MS; waited += 20) {
    if (said().includes('ready to accept')) return guard;
    if (START_FAILED.test(said())) break;
    await sleep(20);
  }
  await letGo(guard);
  throw new Error(`PostgreSQL did not start:\n${said()}`);
}

/** A client that connects before the server is ready meets a FATAL of its own: "the database system is …". */
const START_FAILED = /FATAL: {2}(?!the database system is )|could not create/;

/** What a killed server's processes leave takes a moment to go. */
async function runAgain<T>(start: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start();
    } catch (error) {
      if (tries === 50) throw error;
      await sleep(100);
    }
  }
}

/** Ends the guard, and the server when it still runs; the data stays. */
async function letGo(guard: ChildProcess): Promise<void> {
  if (guard.exitCode !== null) return;
  const closed = once(guard, 'exit');
  guard.stdin?.end('keep\n');
  await closed;
}

function signalServer(folder: string, signal: NodeJS.Signals): void {
  try {
    const [pid] = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), signal);
  } catch {
    // It has ended already.
  }
}

function collect(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    if (text.length < 100_000) text += chunk;
  });
  return () => text;
}

/** Runs a statement on a connection of its own. */
export async function runOn(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
