import { parseStart, toCursor } from '../domain/cursor.ts';
import { Failure } from '../domain/failure.ts';
import type { Reader } from '../store/engine/reader.ts';
import { findFollowedHead, type NotFollowed, readFollowedPage } from '../store/lists/followed.ts';
import type { FollowableHead, Head } from '../store/lists/heads.ts';
import {
  findHead,
  type Page,
  type PagedList,
  type PageOf,
  readCurrentPage,
} from '../store/lists/page.ts';
import { hashVersion } from './computed-version.ts';
import { type Operation, toInvalid, type ValidRequest } from './contract.ts';
import { handlers } from './handlers.ts';
import type { Computed, FeedRequest, Given, ListAfter, PageRequest } from './operation.ts';

/** What a request asks for: a list at a page, or one thing. The version is enough to decide whether it has to be read. */
export interface OpenAnswer {
  readonly version: string;
  /** Whether memory keeps it: a page that clients ask for again and again, the first one; another one when it is repeated. */
  readonly keeps: 'at once' | 'repeated' | 'never';
  /** The body with the version of its own snapshot, which may be newer. */
  readonly read: () => Promise<ReadBody>;
}

interface ReadBody {
  readonly version: string;
  /** The version that the client is told, where it is another one. */
  readonly tag?: string;
  /** JSON. */
  readonly text: string;
  /** The value of `Plumbline-Cursor`, for lists that can be followed. */
  readonly cursor?: string | undefined;
  /** The parameters in which the request for the next page differs; undefined at the end. */
  readonly next?: Next | undefined;
}

type Next = Readonly<Record<string, string | number>>;

/** Opens what a request asks for. Throws `not_found` when it does not exist for the caller. */
export async function openAnswer(
  reader: Reader,
  { operation, parameters }: ValidRequest,
  { given, ...caller }: { readonly accountId: string; readonly keyId: string; given: Given },
): Promise<OpenAnswer> {
  // The schemas that have validated the parameters are those that the handler's types were generated from.
  const handle = handlers[operation.operationId] as (
    call: object,
    given: Given,
  ) => PageRequest<unknown> | FeedRequest<unknown> | Computed<object>;
  const request = handle({ ...caller, ...parameters }, given);
  if ('feed' in request) return await openFeed(reader, request, operation);
  if ('read' in request) return await openComputed(reader, request, parameters.query as Page);
  const { list, page } = request;
  if ('followed' in list) return await openAfter(reader, list, { page, operation });
  return await openWhole(reader, list, page);
}

async function openWhole(
  reader: Reader,
  list: PagedList<unknown>,
  page: Page,
): Promise<OpenAnswer> {
  const head = required(await findHead(reader, list), 'No such domain.');
  const read = async (): Promise<ReadBody> => {
    const read = await readCurrentPage(reader, list, { page, head });
    const next = toNext(page, read.items.length, read.total);
    return { ...toBody(read), cursor: toNewest(list.id, read), next };
  };
  if (list.count !== undefined) return toHashed(list.id, await read());
  return { version: head.version, keeps: page.offset === 0 ? 'at once' : 'repeated', read };
}

/** No version tells of it: it is read for a 304, too. */
function toHashed(listId: string, body: ReadBody): OpenAnswer {
  const hashed = withHash(listId, body);
  return { version: hashed.version, keeps: 'never', read: async () => hashed };
}

function withHash(listId: string, body: ReadBody): ReadBody {
  return { ...body, version: hashVersion([listId, body.text]) };
}

async function openComputed(
  reader: Reader,
  { missing, findVersion, read }: Computed<object>,
  page: Page,
): Promise<OpenAnswer> {
  return {
    version: required(await findVersion(reader), missing),
    keeps: page.offset ? 'repeated' : 'at once',
    read: async () => {
      const { version, body } = required(await read(reader), missing);
      const next = isList(body) ? toNext(page, body.data.length, body.total) : undefined;
      return { version, text: JSON.stringify(body), next };
    },
  };
}

const isList = (body: object): body is { data: readonly unknown[]; total: number } =>
  'total' in body;

/** An empty page is the last one, whatever the total is. */
function toNext({ offset }: Page, count: number, total: number): Next | undefined {
  const end = offset + count;
  return count > 0 && end < total ? { offset: end } : undefined;
}

function required<T>(found: T | undefined, missing: string): T {
  if (found === undefined) throw new Failure('not_found', missing);
  return found;
}

/** The list envelope. */
function toBody({ version, items, total }: PageOf<unknown>): ReadBody {
  return { version, text: `{"data":[${items.join(',')}],"total":${total}}` };
}

/** The newest cursor, in the snapshot of the page. Lists that cannot be followed have none. */
function toNewest(listId: string, head: Head | FollowableHead): string | undefined {
  return 'nonce' in head ? toCursor(listId, head) : undefined;
}

/** What every list answers behind its newest cursor: a poll needs no hash. */
const NOTHING = withHash('', toBody({ version: '', items: [], total: 0 }));

/** Throws `validation_error` for what was never a cursor of the list, `cursor_expired` for one that is no longer good. */
async function openAfter(
  reader: Reader,
  { followed, parameter, cursor }: ListAfter<unknown>,
  { page, operation }: { readonly page: Page; readonly operation: Operation },
): Promise<OpenAnswer> {
  const start = parseStart(followed.id, cursor);
  if (start === undefined) throw toInvalid(operation, parameter);
  const head = await findFollowedHead(reader, followed, start);
  if (typeof head === 'string') throw toFailure(head, parameter);
  const read = async (): Promise<ReadBody> => {
    const read = await readFollowedPage(reader, followed, { start, page, head });
    if (typeof read === 'string') throw toFailure(read, parameter);
    const cursor = toCursor(followed.id, read.cursor);
    const hasMore = toNext(page, read.items.length, read.total) !== undefined;
    return {
      ...toBody(read),
      cursor,
      next: hasMore ? { [parameter]: cursor, offset: 0 } : undefined,
    };
  };
  if (head.total > 0) return toHashed(followed.id, await read());
  const { version } = NOTHING;
  // A page that was kept would go on giving its cursor, which a removal expires.
  return { version, keeps: 'never', read: async () => ({ ...(await read()), version }) };
}

async function openFeed(
  reader: Reader,
  { feed: { id, parameter, cursor, open } }: FeedRequest<unknown>,
  operation: Operation,
): Promise<OpenAnswer> {
  const start = parseStart(id, cursor);
  if (start === undefined) throw toInvalid(operation, parameter);
  const feed = await open(reader, start);
  if (feed === undefined) throw toFailure('expired', parameter);
  const { version, read } = feed;
  return {
    version,
    keeps: 'repeated',
    read: async () => {
      const { items, hasMore, tag, ...page } = await read();
      const text = `{"data":[${items.join(',')}],"has_more":${hasMore}}`;
      const cursor = toCursor(id, page.cursor);
      return { version, tag, text, cursor, next: hasMore ? { [parameter]: cursor } : undefined };
    },
  };
}

function toFailure(reason: NotFollowed, parameter: string): Failure {
  if (reason === 'no_list') return new Failure('not_found', 'No such domain.');
  const cure = 'Discard what you have of this list, and begin again with "start".';
  return new Failure('cursor_expired', `"${parameter}" is no longer good. ${cure}`);
}
