import type { Original } from '../../domain/reports/original.ts';
import { Refusal } from '../../domain/reports/refusal.ts';
import type { Report } from '../../domain/reports/report.ts';
import { ORIGINAL_PART_BYTES } from '../documents/document-rows.ts';

/** Documents, and bytes of their originals and contents, that the same statements store. After them, the time limit is checked. */
const GROUP_DOCUMENTS = 64;
const GROUP_BYTES = 1024 * 1024;

interface GroupedDocument {
  readonly original: Original | null;
  readonly content: Report | Refusal;
}

/** The first documents, at least one. */
export function takeGroup<T extends GroupedDocument>(documents: readonly T[]): T[] {
  const group: T[] = [];
  let bytes = 0;
  for (const document of documents.slice(0, GROUP_DOCUMENTS)) {
    const { content, original } = document;
    if (bytes >= GROUP_BYTES) break;
    bytes += Math.min(original?.content.length ?? 0, ORIGINAL_PART_BYTES);
    if (!(content instanceof Refusal)) bytes += content.content.length;
    group.push(document);
  }
  return group;
}
