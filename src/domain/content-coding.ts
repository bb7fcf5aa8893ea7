import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import Negotiator from 'negotiator';

export type Compression = 'br' | 'gzip';
/** How the bytes of a body are encoded (RFC 9110, section 8.4). */
export type Coding = Compression | 'identity';

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
