import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants, gzip } from 'node:zlib';
import { Gzip } from 'minizlib';
import Negotiator from 'negotiator';

export type Compression = 'br' | 'gzip';
/** How the bytes of a body are encoded (RFC 9110, section 8.4). */
type Coding = Compression | 'identity';

/** The Cache-Control of a resource whose URL has a hash of its content. */
export const IMMUTABLE = 'public, max-age=31536000, immutable';

/**
 * The offered coding that the client prefers or names first. `identity` when it accepts none of them, even if
 * it refuses `identity` too: an uncompressed answer is better than an error (RFC 9110, section 12.5.3).
 */
export function chooseCoding(
  { headers }: { readonly headers: NodeJS.Dict<string | string[]> },
  offered: readonly Compression[],
): Coding {
  if (headers['accept-encoding'] === undefined) return 'identity';
  const [best] = new Negotiator({ headers }).encodings([...offered, 'identity']);
  return (best as Coding | undefined) ?? 'identity';
}

/** Compresses in another thread. `options` are those of node:zlib; without them Brotli compresses most, and slowly. */
export function compress(
  bytes: Buffer,
  compression: Compression,
  options: object = {},
): Promise<Buffer> {
  return compression === 'gzip'
    ? promisify(gzip)(bytes, options)
    : promisify(brotliCompress)(bytes, options);
}

/** Below this size, compression saves less than a packet. */
const MIN_BYTES = 1_400;
/** A page up to this size is compressed at once: handing it to another thread costs more than compressing it. */
const MAX_SYNC_BYTES = 64 * 1024;

export function chooseCompression(
  request: Parameters<typeof chooseCoding>[0],
  byteCount: number,
): Compression | undefined {
  if (byteCount < MIN_BYTES) return undefined;
  const choice = chooseCoding(request, ['br', 'gzip']);
  return choice === 'identity' ? undefined : choice;
}

/** A body that is sent once. Gzip's level 3 makes it smaller than 4 and 5 do; brotli at 1 costs as much as gzip. */
export async function compressOnce(body: Buffer, compression: Compression): Promise<Buffer> {
  if (body.length > MAX_SYNC_BYTES) return await compress(body, compression, QUICK[compression]);
  return compression === 'gzip' ? gzipAtOnce(body) : brotliCompressSync(body, QUICK.br);
}

/** Brotli's own quality, 11, is for files that are compressed once and served for years. */
export const toBrotli = (quality: number) => ({
  params: { [constants.BROTLI_PARAM_QUALITY]: quality },
});
/** By default each gzip takes 270 kB: this is a half of it. */
const SMALL = { windowBits: 14, memLevel: 7 };
const QUICK = { gzip: { level: 3, ...SMALL }, br: toBrotli(1) } as const;

/**
 * One state for all bodies: node makes a new one for each, and memory outside the heap makes the garbage collector run
 * (a third of a page's cost).
 */
const gzipAtOnce = createGzip(QUICK.gzip);

function createGzip(options: typeof QUICK.gzip): (body: Buffer) => Buffer {
  const gzip = new Gzip(options);
  let chunks: Uint8Array[] = [];
  gzip.on('data', (chunk) => chunks.push(chunk));
  return (body) => {
    chunks = [];
    gzip.reset();
    gzip.write(body);
    gzip.flush(constants.Z_FINISH);
    return Buffer.concat(chunks);
  };
}
