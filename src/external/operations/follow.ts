import { parseStart, toCursor } from '../../domain/cursor.ts';
import { Failure } from '../../domain/failure.ts';
import type { Reader } from '../../store/engine/reader.ts';
import {
  type FollowedList,
  findFollowedHead,
  readFollowedPage,
} from '../../store/lists/followed.ts';
import type { ListAnswer } from './handlers.ts';
import { type PageQuery, toPage } from './list.ts';

/** The parameter that has the cursor. */
interface Given {
  readonly name: string;
  readonly cursor: string;
}

/**
 * The answer with a page of what came to a list after a cursor (decision 1.17). Throws `validation_error` for a
 * text that is not a cursor of the list, before anything is read, and for one that the list never gave out.
 */
export async function answerFollowed<Item>(
  reader: Reader,
  list: FollowedList<Item>,
  { start: given, query }: { readonly start: Given; readonly query: PageQuery },
): Promise<ListAnswer<Item>> {
  const start = parseStart(list.id, given.cursor);
  if (start === undefined) throw toMalformed(given);
  const head = await findFollowedHead(reader, list, start);
  if (head === 'no_list') throw new Failure('not_found', 'No such domain.');
  if (head === 'no_point') throw toUnknown(given);
  const page = toPage(query);
  return {
    head,
    key: `${given.cursor} ${page.limit} ${page.offset}`,
    // A client asks for a cursor once: then it has the next one.
    isFirst: false,
    read: async () => {
      const { point, ...read } = await readFollowedPage(reader, list, { start, page, head });
      return { ...read, cursor: toCursor(list.id, point) };
    },
  };
}

function toMalformed({ name }: Given): Failure {
  const allowed = 'must be "start" or a Plumbline-Cursor of this list, given once.';
  return new Failure('validation_error', `"${name}" ${allowed}`);
}

/** The database was restored from a backup, for example. */
function toUnknown({ name }: Given): Failure {
  const cure = 'is a cursor that this list never gave out. Start again with "start".';
  return new Failure('validation_error', `"${name}" ${cure}`);
}
