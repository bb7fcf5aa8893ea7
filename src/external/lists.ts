import { parseStart, toCursor } from '../domain/cursor.ts';
import { Failure } from '../domain/failure.ts';
import type { Reader } from '../store/engine/reader.ts';
import { findFollowedHead, readFollowedPage } from '../store/lists/followed.ts';
import type { Head } from '../store/lists/heads.ts';
import { findHead, type Page, type PagedList, readCurrentPage } from '../store/lists/page.ts';
import { type Operation, toInvalid, type ValidRequest } from './contract.ts';
import { handlers } from './handlers.ts';
import type { ComputedList, ComputedPage, ListAfter, PageRequest } from './operation.ts';

/** A list at a page. The version is enough to decide whether the page has to be read. */
export interface OpenList {
  readonly version: string;
  /** Whether it is a page that clients ask for again and again: the first one. */
  readonly isFirst: boolean;
  /** The page with the version of its own snapshot, which may be newer. */
  readonly read: () => Promise<ReadPage>;
}

interface ReadPage extends ComputedPage<unknown> {
  /** The value of `Plumbline-Cursor`, for lists that can be followed. */
  readonly cursor?: string | undefined;
}

/** Opens the list that a request asks for. Throws `not_found` when the list does not exist for the caller. */
export async function openList(
  reader: Reader,
  { operation, parameters }: ValidRequest,
  accountId: string,
): Promise<OpenList> {
  // The schemas that have validated the parameters are those that the handler's types were generated from.
  const handle = handlers[operation.operationId] as (call: object) => PageRequest<unknown>;
  const { list, page } = handle({ accountId, ...parameters });
  if ('followed' in list) return await openAfter(reader, list, { page, operation });
  if ('head' in list) return await openWhole(reader, list, page);
  return await openComputed(reader, list, page);
}

async function openWhole(reader: Reader, list: PagedList<unknown>, page: Page): Promise<OpenList> {
  const head = await findHead(reader, list);
  if (head === undefined) throw new Failure('not_found', 'No such domain.');
  return {
    version: head.version,
    isFirst: page.offset === 0,
    read: async () => {
      const read = await readCurrentPage(reader, list, { page, head });
      return { ...read, cursor: toNewest(list.id, read) };
    },
  };
}

async function openComputed(
  reader: Reader,
  { version, missing, readPage }: ComputedList<unknown>,
  page: Page,
): Promise<OpenList> {
  const [found] = await reader.readAll(version);
  if (found === undefined) throw new Failure('not_found', missing);
  return {
    version: found.version,
    isFirst: page.offset === 0,
    read: () => readPage(reader, page),
  };
}

/** The newest point, in the snapshot of the page. Lists that cannot be followed have none. */
function toNewest(listId: string | undefined, { position, nonce }: Head): string | undefined {
  if (listId === undefined || position === undefined || nonce === undefined) return undefined;
  return toCursor(listId, { position, nonce });
}

/** Throws `validation_error` for a text that is no cursor of the list, and for one that the list never gave out. */
async function openAfter(
  reader: Reader,
  { followed, parameter, cursor }: ListAfter<unknown>,
  { page, operation }: { readonly page: Page; readonly operation: Operation },
): Promise<OpenList> {
  const start = parseStart(followed.id, cursor);
  if (start === undefined) throw toInvalid(operation, parameter);
  const head = await findFollowedHead(reader, followed, start);
  if (head === 'no_list') throw new Failure('not_found', 'No such domain.');
  if (head === 'no_point') {
    // The database was restored from a backup, for example.
    const cure = 'is a cursor that this list never gave out. Start again with "start".';
    throw new Failure('validation_error', `"${parameter}" ${cure}`);
  }
  return {
    version: head.version,
    // A client asks for a cursor once: then it has the next one.
    isFirst: false,
    read: async () => {
      const { point, ...read } = await readFollowedPage(reader, followed, { start, page, head });
      return { ...read, cursor: toCursor(followed.id, point) };
    },
  };
}
