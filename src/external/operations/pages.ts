import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { send, toBody } from '../send.ts';
import type { ListAnswer, ServedAnswer } from './handlers.ts';

/** Below this size, compression saves less than a packet. */
const MIN_COMPRESSED_BYTES = 1_400;
const TAG = /"[^"]*"/g;

type Encoding = 'identity' | 'gzip' | 'br';

/** A page as bytes, ready to send. Its version is the list's version: another version has another page. */
interface ReadyPage {
  readonly version: string;
  readonly bytes: Buffer;
  /** Compressed once, for the first request that accepts the encoding. */
  readonly compressed: Partial<Record<Encoding, Promise<Buffer>>>;
}

/**
 * Sends lists: a 304 when the caller has the current version (1.12), else a cached page, else a page read
 * from the store. The cache holds up to `maxBytes`; the least recently used page is removed first.
 */
export function createPages(maxBytes: number) {
  const ready = new LRUCache<string, ReadyPage>({
    // LRUCache rejects a maximum size of 0. A size of 1 byte holds no page.
    maxSize: Math.max(1, maxBytes),
    // The size of the compressed page is not known yet; it is a small part.
    sizeCalculation: ({ bytes }) => bytes.length + 500,
  });

  const makeReady = async (answer: ListAnswer<unknown>): Promise<ReadyPage> => {
    const { version, body } = await answer.read();
    const page = { version, bytes: toBody(body), compressed: {} };
    ready.set(toKey(version, answer), page);
    return page;
  };

  return async function sendList(req: Request, res: Response, answer: ServedAnswer) {
    const { version } = answer.head;
    const ifNoneMatch = req.headers['if-none-match'];
    if (ifNoneMatch !== undefined && isKnown(ifNoneMatch, toTag(version, answer))) {
      return send(req, res, { status: 304, headers: toListHeaders(version, answer) });
    }
    const page = ready.get(toKey(version, answer)) ?? (await makeReady(answer));
    await sendPage(req, res, { page, headers: toListHeaders(page.version, answer) });
  };
}

function toKey(version: string, { page: { limit, offset } }: ListAnswer<unknown>): string {
  return `${version} ${limit} ${offset}`;
}

/** Whether one of the caller's entity tags, compared weakly, is the list's (RFC 9110, 13.1.2). */
function isKnown(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.match(TAG)?.includes(tag) ?? false;
}

/** The list's entity tag. It changes with the list, its total, and the schema of the answer (1.12). */
function toTag(version: string, { shape }: ServedAnswer): string {
  return `"${version}.${shape}"`;
}

async function sendPage(
  req: Request,
  res: Response,
  { page, headers }: { page: ReadyPage; headers: readonly string[] },
): Promise<void> {
  const encoding = chooseEncoding(req, page);
  if (encoding === 'identity') return send(req, res, { status: 200, headers, body: page.bytes });
  const body = await compress(page, encoding);
  send(req, res, { status: 200, headers: [...headers, 'Content-Encoding', encoding], body });
}

function toListHeaders(version: string, answer: ServedAnswer): readonly string[] {
  return [
    ...['ETag', `W/${toTag(version, answer)}`],
    ...['Cache-Control', 'private, no-cache'],
    ...['Vary', 'Authorization, Accept-Encoding'],
    ...answer.headers,
  ];
}

function chooseEncoding(req: Request, { bytes }: ReadyPage): Encoding {
  if (req.headers['accept-encoding'] === undefined) return 'identity';
  if (bytes.length < MIN_COMPRESSED_BYTES) return 'identity';
  const [best] = new Negotiator(req).encodings(['br', 'gzip', 'identity']);
  // No supported encoding is acceptable. The uncompressed page is better than an error (RFC 9110, 12.5.3).
  return (best as Encoding | undefined) ?? 'identity';
}

function compress(page: ReadyPage, encoding: 'gzip' | 'br'): Promise<Buffer> {
  page.compressed[encoding] ??= COMPRESS[encoding](page.bytes);
  return page.compressed[encoding];
}

const COMPRESS = {
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
  // The default quality, 11, is for files that are compressed once and served for years.
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
} as const;
