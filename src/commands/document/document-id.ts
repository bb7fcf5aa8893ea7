import { InvalidArgumentError } from 'commander';
import { type DocumentId, parseDocumentId } from '../../store/documents/document-list.ts';

/** The id of a document in an argument of a command. */
export function parseId(text: string): DocumentId {
  const id = parseDocumentId(text);
  if (id === undefined)
    throw new InvalidArgumentError('It is a report’s id, conflict-<number> or rejection-<number>.');
  return id;
}

/** The number of a conflict. */
export function parseConflict(text: string): number {
  const id = parseDocumentId(text);
  if (id?.kind !== 'conflict') throw new InvalidArgumentError('It is conflict-<number>.');
  return id.seq;
}
