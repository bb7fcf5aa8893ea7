/** A checkout of the product, of this version or of another: the bench uses its commands and its API, no module of it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { SERVER_ENV } from '../server-env.ts';
import { readChildrenMicros, readPeakMegabytes } from './processes.ts';
import { type Server, startServer } from './servers.ts';

export interface Checkout {
  readonly name: string;
  /** Its folder. */
  readonly root: string;
}

export const OWN: Checkout = {
  name: 'plumbline',
  root: fileURLToPath(new URL('../../', import.meta.url)),
};

const ENV = { PLUMBLINE_DNS_CHECKS: 'off', PLUMBLINE_LOG_LEVEL: 'warn' };
const LOOK_MS = 50;

export interface Ran {
  /** The last JSON value that the command printed. */
  // biome-ignore lint/suspicious/noExplicitAny: Each command has an output of its own.
  readonly value: any;
  /** Microseconds of CPU of its processes. */
  readonly micros: number;
  readonly seconds: number;
  readonly megabytes: number;
}

/** Runs a command to its end. Nothing else that this process started may end meanwhile. */
export async function run(
  checkout: Checkout,
  args: readonly string[],
  { database, input = '' }: { readonly database: string; readonly input?: string },
): Promise<Ran> {
  const [before, begun] = [readChildrenMicros(process.pid), performance.now()];
  const child = spawnCommand(checkout, args, { PLUMBLINE_DATABASE: database });
  const closed = once(child, 'close');
  let megabytes = 0;
  const looking = setInterval(() => {
    megabytes = Math.max(megabytes, readPeakMegabytes(child.pid ?? 0));
  }, LOOK_MS);
  child.stdin?.end(input);
  const output = await text(child.stdout as NodeJS.ReadableStream);
  const [status] = await closed;
  clearInterval(looking);
  if (status !== 0) throw new Error(`plumbline ${args.join(' ')} ended with ${status}.`);
  const seconds = (performance.now() - begun) / 1_000;
  const value = JSON.parse(output.trim().split('\n').at(-1) ?? '');
  return { value, micros: readChildrenMicros(process.pid) - before, seconds, megabytes };
}

export function spawnCommand(
  { root }: Checkout,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): ChildProcess {
  return spawn(process.execPath, [join(root, 'bin/plumbline.js'), ...args, '--json', '--quiet'], {
    env: { ...process.env, ...ENV, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

/** A server of the API and the settings pages, as operators start it, without limits that a bench would reach. */
export async function serve(
  { root }: Checkout,
  database: string,
  pageCacheMb: number,
): Promise<Server> {
  return await startServer([join(root, 'bin/plumbline.js'), 'serve', '--only', 'api', '--json'], {
    ...SERVER_ENV,
    ...ENV,
    PLUMBLINE_DATABASE: database,
    PLUMBLINE_PORT: '0',
    PLUMBLINE_REQUESTS_PER_KEY: '1000000000',
    PLUMBLINE_REQUESTS_PER_IP: '1000000000',
    PLUMBLINE_PAGE_CACHE_MB: `${pageCacheMb}`,
    // Each request writes a line.
    PLUMBLINE_LOG_LEVEL: 'info',
  });
}

/** Ingests files, and throws when a report of them was not stored. */
export async function ingest(
  checkout: Checkout,
  folder: string,
  { database, reports }: { readonly database: string; readonly reports: number },
): Promise<Ran> {
  const ran = await run(checkout, ['ingest', folder], { database });
  const { stored } = ran.value.summary;
  if (stored !== reports)
    throw new Error(`${stored} of ${reports} reports were stored: ${JSON.stringify(ran.value)}`);
  return ran;
}

export interface Owner {
  readonly accountId: string;
  readonly key: string;
  /** Ids of domains by their names. */
  readonly domains: ReadonlyMap<string, string>;
}

/** Makes an account with domains and a key. */
export async function makeOwner(
  checkout: Checkout,
  database: string,
  names: readonly string[],
): Promise<Owner> {
  const make = async (args: readonly string[], input = '') =>
    (await run(checkout, args, { database, input })).value;
  const { id: accountId } = await make(['account', 'create', 'Bench']);
  const { key } = await make(['key', 'create', accountId, 'bench']);
  await make(['domain', 'add', accountId, '--file', '-'], names.join('\n'));
  const domains: { id: string; domain: string }[] = await make(['domain', 'list', accountId]);
  return { accountId, key, domains: new Map(domains.map(({ id, domain }) => [domain, id])) };
}
