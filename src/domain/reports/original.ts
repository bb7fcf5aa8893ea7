import { promisify } from 'node:util';
import { zstdCompress, zstdCompressSync, zstdDecompress } from 'node:zlib';

/** The bytes in which a document came, as they are stored. */
export interface Original {
  /** `as_is`: they were compressed when they came. */
  readonly encoding: 'as_is' | 'zstd';
  /** The size of the bytes as they came. */
  readonly size: number;
  readonly content: Uint8Array;
}

/** Compressing larger bytes in one call would keep a process that serves from answering. */
const SMALL_BYTES = 1024 * 1024;

/** Blocks for 3 ms a mebibyte. */
export function packOriginal(bytes: Uint8Array): Original {
  if (isCompressed(bytes)) return { encoding: 'as_is', size: bytes.length, content: bytes };
  return { encoding: 'zstd', size: bytes.length, content: zstdCompressSync(bytes) };
}

/** The same; large bytes are compressed on another thread. */
export async function packLargeOriginal(bytes: Uint8Array): Promise<Original> {
  if (bytes.length <= SMALL_BYTES || isCompressed(bytes)) return packOriginal(bytes);
  return { encoding: 'zstd', size: bytes.length, content: await promisify(zstdCompress)(bytes) };
}

/** The bytes as they came; undefined when what is stored of them is damaged or not complete. */
export async function unpackOriginal({
  encoding,
  size,
  content,
}: Original): Promise<Uint8Array | undefined> {
  const options = { maxOutputLength: Math.max(1, size) };
  const unpack = () => promisify(zstdDecompress)(content, options).catch(() => undefined);
  const bytes = encoding === 'as_is' ? content : await unpack();
  return bytes?.length === size ? bytes : undefined;
}

export const hasGzipMagic = ([first, second]: Uint8Array): boolean =>
  first === 0x1f && second === 0x8b;

const isZip = ([first, second]: Uint8Array): boolean => first === 0x50 && second === 0x4b;

/** Most reports come compressed. Compressing them again would not make them smaller. */
const isCompressed = (bytes: Uint8Array): boolean => hasGzipMagic(bytes) || isZip(bytes);
