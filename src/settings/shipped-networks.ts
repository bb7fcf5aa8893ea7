import { closeSync, openSync, readSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import type { Network } from '../domain/sources/network.ts';
import {
  type Family,
  FORMAT,
  findPosition,
  HEADER_BYTES,
  MAX_NAME_BYTES,
  NUMBER_BYTES,
  readNetwork,
  type TableHeader,
  toRangeBytes,
  toRangeKey,
} from '../domain/sources/network-table.ts';
import type { IpDatabase } from './ip-database.ts';

/** Networks that are kept in memory: those of most sources. */
const MAX_KNOWN = 5_000;

/**
 * The networks that Plumbline brings (`npm run networks`). Their ranges are read when one is asked for first, and their
 * names stay in the file. undefined without a file of this format: it is made at pack time, and by `npm start`.
 */
export function openShippedNetworks(file: string): IpDatabase | undefined {
  const fd = open(file);
  if (fd === undefined) return undefined;
  const header = readHeader(fd);
  if (header === undefined) {
    closeSync(fd);
    return undefined;
  }
  const sizes = { v4: header.v4 * toRangeBytes('v4'), v6: header.v6 * toRangeBytes('v6') };
  const readRanges = (): Record<Family, Buffer> => ({
    v4: read(fd, HEADER_BYTES, sizes.v4),
    v6: read(fd, HEADER_BYTES + sizes.v4, sizes.v6),
  });
  const networksAt = HEADER_BYTES + sizes.v4 + sizes.v6;
  let ranges: Record<Family, Buffer> | undefined;
  const known = new LRUCache<number, Network>({
    max: MAX_KNOWN,
    memoMethod: (position) =>
      readNetwork(read(fd, networksAt + position, NUMBER_BYTES + MAX_NAME_BYTES)),
  });
  const find = (address: string) => {
    ranges ??= readRanges();
    const [family, key] = toRangeKey(address);
    const position = findPosition(ranges[family], family, key);
    return position === 0 ? undefined : known.memo(position);
  };
  const findVersion = () => header.version;
  let isOpen = true;
  const close = () => {
    if (isOpen) closeSync(fd);
    isOpen = false;
  };
  return { find, findVersion, isShipped: true, close };
}

function open(file: string): number | undefined {
  try {
    return openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Fewer bytes at the end of the file. */
function read(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, position));
}

function readHeader(fd: number): TableHeader | undefined {
  try {
    const header = JSON.parse(read(fd, 0, HEADER_BYTES).toString());
    return header.format === FORMAT ? header : undefined;
  } catch {
    return undefined;
  }
}
