import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import type { ListAnswer } from './handlers.ts';
import { setRateLimitHeaders } from './limits.ts';

/** Below this, compressing saves less than a packet. */
const MIN_COMPRESSED_BYTES = 1_400;
const TAG = /"[^"]*"/g;

type Encoding = 'identity' | 'gzip' | 'br';

/** A page in bytes, ready to be sent. Its version names the list's state, so it never goes stale. */
interface ReadyPage {
  readonly version: string;
  readonly bytes: Buffer;
  /** Compressed once, when the first caller asks for it. */
  readonly compressed: Partial<Record<Encoding, Promise<Buffer>>>;
}

/**
 * Sends lists: nothing when the caller has it (1.12), else a page kept ready, else one read from the store.
 * Up to `maxBytes` of pages are kept; what was not asked for longest goes first.
 */
export function createPages(maxBytes: number) {
  const ready = new LRUCache<string, ReadyPage>({
    // A cache of nothing is not to be had; no page fits into one byte.
    maxSize: Math.max(1, maxBytes),
    // What compressing will add is not known yet; it is a small part.
    sizeCalculation: ({ bytes }) => bytes.length + 500,
  });

  return async function sendList(req: Request, res: Response, answer: ListAnswer<unknown>) {
    const { version } = answer.head;
    if (isKnown(req.headers['if-none-match'], version)) return sendNotModified(req, res, version);
    const page = ready.get(toKey(version, answer)) ?? (await makeReady(answer));
    ready.set(toKey(page.version, answer), page);
    await sendPage(req, res, page);
  };
}

function toKey(version: string, { page: { limit, offset } }: ListAnswer<unknown>): string {
  return `${version} ${limit} ${offset}`;
}

async function makeReady({ read }: ListAnswer<unknown>): Promise<ReadyPage> {
  const { version, body } = await read();
  return { version, bytes: Buffer.from(`${JSON.stringify(body)}\n`), compressed: {} };
}

/** Whether one of the caller's entity tags, compared weakly, is the list's (RFC 9110, 13.1.2). */
function isKnown(ifNoneMatch: string | undefined, version: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.match(TAG)?.includes(`"${version}"`) ?? false;
}

function sendNotModified(req: Request, res: Response, version: string): void {
  setListHeaders(req, res, version);
  res.writeHead(304).end();
}

async function sendPage(req: Request, res: Response, page: ReadyPage): Promise<void> {
  const encoding = chooseEncoding(req, page);
  const bytes = encoding === 'identity' ? page.bytes : await compress(page, encoding);
  setListHeaders(req, res, page.version);
  if (encoding !== 'identity') res.setHeader('Content-Encoding', encoding);
  res
    .writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': bytes.length })
    .end(bytes);
}

function setListHeaders(req: Request, res: Response, version: string): void {
  setRateLimitHeaders(req, res);
  res.setHeader('ETag', `W/"${version}"`);
  res.setHeader('Cache-Control', 'private, no-cache');
  res.setHeader('Vary', 'Authorization, Accept-Encoding');
}

function chooseEncoding(req: Request, { bytes }: ReadyPage): Encoding {
  if (req.headers['accept-encoding'] === undefined) return 'identity';
  if (bytes.length < MIN_COMPRESSED_BYTES) return 'identity';
  const [best] = new Negotiator(req).encodings(['br', 'gzip', 'identity']);
  // None that we have is acceptable: the plain page is better than a refusal (RFC 9110, 12.5.3).
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
