import type { ServerResponse } from 'node:http';
import type { Compression } from '../../domain/content-coding.ts';
import type { ApiRequest } from '../request.ts';
import { type Body, send } from '../send.ts';
import { chooseCompression, compressOnce, compressWell } from './compression.ts';
import type { ServedAnswer } from './handlers.ts';
import { toOwnBytes } from './own-bytes.ts';
import { PageCache } from './page-cache.ts';

const TAG = /"[^"]*"/g;

/** A page that is kept in memory. Its version is the list's version: another version has another page. */
interface KeptPage {
  readonly version: string;
  readonly cursor: string | undefined;
  readonly bytes: Buffer;
  /** Compressed once, for the first request for the kept page that accepts it. */
  readonly compressed: Partial<Record<Compression, Promise<Buffer>>>;
}

interface Page {
  readonly version: string;
  readonly cursor: string | undefined;
  readonly body: Body;
  readonly compression: Compression | undefined;
}

/**
 * Sends lists: a 304 when the caller has the current version (1.12), else a page from memory, else a page read
 * from the store. `maxBytes` is the memory for pages.
 */
export function createPages(maxBytes: number) {
  const cache = new PageCache<KeptPage>(maxBytes);

  const findPage = async (req: ApiRequest, answer: ServedAnswer): Promise<Page> => {
    const kept = cache.get(toKey(answer.head.version, answer));
    if (kept !== undefined) return await toPage(req, kept);
    const { version, cursor, text } = await readText(answer);
    const key = toKey(version, answer);
    if (cache.isWorthKeeping(key, answer.isFirst))
      cache.set(key, { version, cursor, bytes: toOwnBytes(Buffer.from(text)), compressed: {} });
    return { version, cursor, ...(await toFreshBody(req, text)) };
  };

  return async function sendList(req: ApiRequest, res: ServerResponse, answer: ServedAnswer) {
    const { version } = answer.head;
    const ifNoneMatch = req.headers['if-none-match'];
    if (ifNoneMatch !== undefined && isKnown(ifNoneMatch, toTag(version, answer))) {
      return send(req, res, { status: 304, headers: toListHeaders(version, answer) });
    }
    const page = await findPage(req, answer);
    send(req, res, { status: 200, headers: toPageHeaders(page, answer), body: page.body });
  };
}

function toKey(version: string, { key }: ServedAnswer): string {
  return `${version} ${key}`;
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

/** The list envelope (description, section 2.4), and a newline for display on a terminal. */
async function readText({ read }: ServedAnswer) {
  const { version, cursor, items, total } = await read();
  return { version, cursor, text: `{"data":[${items.join(',')}],"total":${total}}\n` };
}

async function toPage(req: ApiRequest, kept: KeptPage): Promise<Page> {
  const { version, cursor, bytes, compressed } = kept;
  const compression = chooseCompression(req, bytes.length);
  if (compression === undefined) return { version, cursor, body: bytes, compression };
  compressed[compression] ??= compressWell(bytes, compression);
  return { version, cursor, body: await compressed[compression], compression };
}

async function toFreshBody(
  req: ApiRequest,
  text: string,
): Promise<Pick<Page, 'body' | 'compression'>> {
  const compression = chooseCompression(req, text.length);
  if (compression === undefined) return { body: text, compression };
  return { body: await compressOnce(Buffer.from(text), compression), compression };
}

function toPageHeaders(page: Page, answer: ServedAnswer): readonly string[] {
  const { version, cursor, compression } = page;
  return [
    ...toListHeaders(version, answer),
    ...(cursor === undefined ? [] : ['Plumbline-Cursor', cursor]),
    ...(compression === undefined ? [] : ['Content-Encoding', compression]),
  ];
}

function toListHeaders(version: string, answer: ServedAnswer): readonly string[] {
  return [
    ...['ETag', `W/${toTag(version, answer)}`],
    ...['Cache-Control', 'private, no-cache'],
    ...['Vary', 'Authorization, Accept-Encoding'],
    ...answer.headers,
  ];
}
