import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import Negotiator from 'negotiator';

/** How the bytes of a body are encoded (RFC 9110, section 8.4). */
export type Coding = 'br' | 'gzip' | 'identity';

/** For what is named by a hash of its content. */
export const IMMUTABLE = 'public, max-age=31536000, immutable';

/**
 * The offered coding that the client prefers or names first. `identity` when it accepts none of them, even if
 * it refuses `identity` too: an uncompressed answer is better than an error (RFC 9110, section 12.5.3).
 */
export function chooseCoding(
  { headers }: { readonly headers: NodeJS.Dict<string | string[]> },
  offered: readonly Coding[],
): Coding {
  if (headers['accept-encoding'] === undefined) return 'identity';
  const [best] = new Negotiator({ headers }).encodings([...offered, 'identity']);
  return (best as Coding | undefined) ?? 'identity';
}

/** Bytes that are sent many times. Each coding is made once, when it is sent for the first time. */
export interface Content {
  readonly bytes: Buffer;
  readonly coded: Partial<Record<Coding, Promise<Buffer>>>;
}

/** The content in a coding. `quality` is Brotli's, from 0 to 11. */
export function encode(
  { bytes, coded }: Content,
  coding: Coding,
  quality: number = constants.BROTLI_DEFAULT_QUALITY,
): Promise<Buffer> {
  coded[coding] ??= ENCODE[coding](bytes, quality);
  return coded[coding];
}

const ENCODE = {
  identity: async (bytes: Buffer) => bytes,
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
  br: (bytes: Buffer, quality: number) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
} as const;
