import { Failure } from '../../domain/failure.ts';
import type { Reader } from '../../store/connection/reader.ts';
import { findHead, type Page, type PagedList, readPage } from '../../store/lists/page.ts';
import type { ListAnswer } from './handlers.ts';

type PageQuery = { readonly limit?: number; readonly offset?: number };

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
    read: () => readPage(reader, list, page),
  };
}

/** The requested page. The defaults are the contract's (description, section 4.1). */
function toPage({ limit = 50, offset = 0 }: PageQuery): Page {
  return { limit, offset };
}
