import type { IncomingMessage } from 'node:http';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type Compression, chooseCoding, compress } from '../domain/content-coding.ts';
import { toOwnBytes } from './page-cache.ts';

/** Below this size, compression saves less than a packet. */
const MIN_BYTES = 1_400;
/** A page up to this size is compressed at once: handing it to another thread costs more than compressing it. */
const MAX_SYNC_BYTES = 64 * 1024;

export function chooseCompression(
  { headers }: IncomingMessage,
  byteCount: number,
): Compression | undefined {
  if (byteCount < MIN_BYTES) return undefined;
  const choice = chooseCoding({ headers }, ['br', 'gzip']);
  return choice === 'identity' ? undefined : choice;
}

/** A body that is sent once. Gzip's level 3 makes it smaller than 4 and 5 do; brotli at 1 costs as much as gzip. */
export async function compressOnce(body: Buffer, compression: Compression): Promise<Buffer> {
  if (body.length > MAX_SYNC_BYTES) return await compress(body, compression, QUICK[compression]);
  return compression === 'gzip' ? gzipSync(body, QUICK.gzip) : brotliCompressSync(body, QUICK.br);
}

/** With more effort, for a body that is kept and sent again and again. The work is done in another thread. */
export async function compressWell(body: Buffer, compression: Compression): Promise<Buffer> {
  return toOwnBytes(await compress(body, compression, GOOD[compression]));
}

const toBrotli = (quality: number) => ({ params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
const QUICK = { gzip: { level: 3 }, br: toBrotli(1) } as const;
// Brotli's default quality, 11, is for files that are compressed once and served for years.
const GOOD = { gzip: { level: 6 }, br: toBrotli(5) } as const;
