import { toCursor } from '../../domain/cursor.ts';
import { Failure } from '../../domain/failure.ts';
import type { Reader } from '../../store/engine/reader.ts';
import type { Head } from '../../store/lists/heads.ts';
import { findHead, type Page, type PagedList, readCurrentPage } from '../../store/lists/page.ts';
import type { ListAnswer } from './handlers.ts';

export type PageQuery = { readonly limit?: number; readonly offset?: number };

/** The answer with a page of a list. Throws `not_found` when the list does not exist for the caller. */
export async function answerList<Item>(
  reader: Reader,
  list: PagedList<Item>,
  query: PageQuery,
): Promise<ListAnswer<Item>> {
  const head = await findHead(reader, list);
  if (head === undefined) throw new Failure('not_found', 'No such domain.');
  const page = toPage(query);
  return {
    head,
    key: `${page.limit} ${page.offset}`,
    isFirst: page.offset === 0,
    read: async () => {
      const read = await readCurrentPage(reader, list, { page, head });
      return { ...read, cursor: toNewest(list.id, read) };
    },
  };
}

/** The newest point, in the snapshot of the page. Lists that cannot be followed have none. */
function toNewest(listId: string | undefined, { position, mark }: Head): string | undefined {
  if (listId === undefined || position === undefined || mark === undefined) return undefined;
  return toCursor(listId, { position, mark });
}

/** The requested page. The defaults are the contract's (description, section 4.1). */
export function toPage({ limit = 50, offset = 0 }: PageQuery): Page {
  return { limit, offset };
}
