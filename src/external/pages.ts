import type { ServerResponse } from 'node:http';
import { type Compression, chooseCompression, compressOnce } from '../domain/content-coding.ts';
import { SANDBOX_PATH } from '../domain/sandbox.ts';
import type { Operation, ValidRequest } from './contract.ts';
import type { OpenAnswer } from './lists.ts';
import { compressWell, PageCache, toOwnBytes } from './page-cache.ts';
import { type Parameters, parseQuery, toValues } from './parameters.ts';
import type { ApiRequest } from './request.ts';
import { type Body, sendAnswer } from './send.ts';

const TAG = /"[^"]*"/g;

interface KeptPage {
  readonly version: string;
  readonly cursor: string | undefined;
  readonly next: string | undefined;
  readonly bytes: Buffer;
  /** Compressed once, for the first request for the kept page that accepts it. */
  readonly compressed: Partial<Record<Compression, Promise<Buffer>>>;
}

interface SentPage {
  readonly version: string;
  readonly cursor: string | undefined;
  /** The query of the request for the next page; undefined at the end. */
  readonly next: string | undefined;
  readonly body: Body;
  readonly compression: Compression | undefined;
}

/** Sends a 304 to callers with the current version, else a page from memory (`maxBytes` at most) or the store. */
export function createPages(maxBytes: number) {
  const cache = new PageCache<KeptPage>(maxBytes);

  const findPage = async (
    req: Pick<ApiRequest, 'headers'>,
    request: ValidRequest,
    list: OpenAnswer,
  ): Promise<SentPage> => {
    const kept = list.keeps === 'never' ? undefined : cache.get(toKey(list.version, request));
    if (kept !== undefined) return await toPage(req, kept);
    const { version: own, tag: version = own, cursor, ...read } = await list.read();
    const next = read.next && toQuery({ ...request.parameters.query, ...read.next });
    // A newline for display on a terminal.
    const text = `${read.text}\n`;
    const key = toKey(own, request);
    if (list.keeps !== 'never' && cache.isWorthKeeping(key, list.keeps === 'at once')) {
      const bytes = toOwnBytes(Buffer.from(text));
      cache.set(key, { version, cursor, next, bytes, compressed: {} });
    }
    const compression = chooseCompression(req, text.length);
    const body =
      compression === undefined ? text : await compressOnce(Buffer.from(text), compression);
    return { version, cursor, next, body, compression };
  };

  const sendList = async (
    req: ApiRequest,
    res: ServerResponse,
    { request, list }: { readonly request: ValidRequest; readonly list: OpenAnswer },
  ): Promise<void> => {
    const { operation } = request;
    const { version } = list;
    const ifNoneMatch = req.headers['if-none-match'];
    if (ifNoneMatch !== undefined && isKnown(ifNoneMatch, toTag(version, operation)))
      return sendAnswer(req, res, { status: 304, headers: toHeaders(operation, { version }) });
    const { body, ...page } = await findPage(req, request, list);
    const headers = [...toHeaders(operation, page), ...toLink(req, page.next)];
    sendAnswer(req, res, { status: 200, headers, body });
  };

  /** The page without HTTP: its JSON, and the named values of the request for the next page. */
  const readList = async (request: ValidRequest, list: OpenAnswer) => {
    const { body, cursor, next } = await findPage({ headers: {} }, request, list);
    const query = next && toValues('query', parseQuery(next), request.operation.parameters);
    return { json: `${body}`, cursor, next: query && { ...request.parameters.path, ...query } };
  };
  return { sendList, readList, measurePages: () => cache.measure() };
}

/** A version stands for one state of one list, the parameters for one of its pages. */
function toKey(version: string, { parameters }: ValidRequest): string {
  return `${version} ${JSON.stringify(parameters)}`;
}

/** Whether one of the caller's entity tags, compared weakly, is the list's (RFC 9110, 13.1.2). */
function isKnown(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.match(TAG)?.includes(tag) ?? false;
}

/** The list's entity tag. It changes with the list, its total, and the schema of the answer. */
function toTag(version: string, { shape }: Operation): string {
  return `"${version}.${shape}"`;
}

async function toPage(req: Pick<ApiRequest, 'headers'>, kept: KeptPage): Promise<SentPage> {
  const { bytes, compressed, ...page } = kept;
  const compression = chooseCompression(req, bytes.length);
  if (compression === undefined) return { ...page, body: bytes, compression };
  compressed[compression] ??= compressWell(bytes, compression);
  return { ...page, body: await compressed[compression], compression };
}

function toHeaders(
  operation: Operation,
  { version, cursor, compression }: Pick<SentPage, 'version'> & Partial<SentPage>,
): readonly string[] {
  return [
    'ETag',
    `W/${toTag(version, operation)}`,
    'Cache-Control',
    'private, no-cache',
    'Vary',
    'Authorization, Accept-Encoding',
    ...operation.headers,
    ...(cursor === undefined ? [] : ['Plumbline-Cursor', cursor]),
    ...(compression === undefined ? [] : ['Content-Encoding', compression]),
  ];
}

/** Only what the operation knows: a parameter that it ignores would make the header as long as the caller likes. */
function toQuery(query: Parameters['query']): string {
  const texts = Object.entries(query).map(([name, value]): [string, string] => [name, `${value}`]);
  return `${new URLSearchParams(texts)}`;
}

/** A path without a host is good behind every proxy (RFC 8288, section 3.1). The path is that of an operation. */
function toLink({ url = '', isSandbox }: ApiRequest, next?: string): readonly string[] {
  if (next === undefined) return [];
  const base = isSandbox ? SANDBOX_PATH : '';
  return ['Link', `<${base}${url.split('?', 1)[0]}?${next}>; rel="next"`];
}
