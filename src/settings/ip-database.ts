import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import type { Reader, Response } from 'maxmind';
import { type Network, type Networks, toNetwork } from '../domain/sources/network.ts';
import { describeSystemError } from '../domain/system-error.ts';
import { once } from '../domain/text.ts';

export interface IpDatabase extends Networks {
  /** Stops watching the file. */
  readonly close: () => void;
}

interface Options {
  /** The file has changed and cannot be used: the former content stays in use. */
  readonly warn: (error: Error) => void;
  /** How often the file is looked at. Its publisher makes a new one each day or month. */
  readonly lookMs?: number;
}

const LOOK_MS = 60_000;
/** The file is in memory as a whole, in each process that serves pages. */
const MAX_BYTES = 1024 ** 3;
/** Addresses whose networks are remembered: a page that groups sources looks up 5,000. */
const MAX_KNOWN = 20_000;
/** Stands before the metadata, which are in the last 128 KiB (MaxMind DB File Format 2.0). */
const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
const METADATA_BYTES = 128 * 1024;

/** Reads the file again when it has changed. Throws an Error with a text for the operator when it cannot be used. */
export async function openIpDatabase(
  file: string,
  { warn, lookMs = LOOK_MS }: Options,
): Promise<IpDatabase> {
  let version = await toVersion(file);
  let database = await readDatabase(file);
  const look = async () => {
    const seen = await toVersion(file);
    if (seen === version) return;
    version = seen;
    database = await readDatabase(file);
  };
  const timer = setInterval(() => void look().catch(warn), lookMs).unref();
  return {
    find: (address) => database.find(address),
    findVersion: () => database.findVersion(),
    isShipped: false,
    close: () => clearInterval(timer),
  };
}

/**
 * The networks that Plumbline brings (`npm run networks`), which are read when one is asked for first. undefined without the
 * file: it is made at pack time, and by `npm start`.
 */
export async function openShippedNetworks(file: string): Promise<IpDatabase | undefined> {
  if (!existsSync(file)) return undefined;
  const { Reader } = await import('maxmind');
  const read = once(() => {
    const bytes = readFileSync(file);
    return toDatabase(new Reader(bytes), bytes);
  });
  return {
    find: (address) => read().find(address),
    findVersion: () => read().findVersion(),
    isShipped: true,
    close: () => {},
  };
}

/** A lookup in the file takes ten times as long as one in the cache. */
function remember(reader: Reader<Response>): Networks['find'] {
  const known = new LRUCache<string, { readonly network: Network | undefined }>({
    max: MAX_KNOWN,
    memoMethod: (address) => ({ network: lookUp(reader, address) }),
  });
  return (address) => known.memo(address).network;
}

/** A record that cannot be decoded counts as missing: the page is shown without it. */
function lookUp(reader: Reader<Response>, address: string): Network | undefined {
  if (reader.metadata.ipVersion === 4 && address.includes(':')) return undefined;
  try {
    return toNetwork(reader.get(address));
  } catch {
    return undefined;
  }
}

async function readDatabase(file: string) {
  const bytes = await readBytes(file);
  // Without the marker, the library would search it through the whole file.
  if (!bytes.subarray(-METADATA_BYTES).includes(MARKER))
    throw new Error(`${file} is not an MMDB file, or not all of it.`);
  const { Reader } = await import('maxmind');
  try {
    return toDatabase(new Reader(bytes), bytes);
  } catch (error) {
    throw new Error(`${file} is a broken MMDB file: ${(error as Error).message}`);
  }
}

/** The version is the same for the same content, on any machine. Only the API asks for it. */
function toDatabase(reader: Reader<Response>, bytes: Buffer) {
  return { find: remember(reader), findVersion: once(() => hash('sha256', bytes)) };
}

async function readBytes(file: string): Promise<Buffer> {
  const fail = (error: unknown) => {
    throw new Error(`${file} cannot be read: ${describeSystemError(error)}.`);
  };
  const stats = await stat(file).catch(fail);
  if (!stats.isFile()) throw new Error(`${file} is not a file.`);
  if (stats.size > MAX_BYTES) throw new Error(`${file} is larger than 1 GiB.`);
  return await readFile(file).catch(fail);
}

/** Changes when the file is replaced or written, and when it cannot be read. */
async function toVersion(file: string): Promise<string> {
  const one = await stat(file).catch(() => undefined);
  return `${one?.ino}:${one?.mtimeMs}:${one?.size}`;
}
