import type { Instant } from '../src/domain/instant.ts';
import type { AggregateReport } from '../src/domain/reports/aggregate-report.ts';
import type { Refusal } from '../src/domain/reports/refusal.ts';
import {
  insertReceived,
  type Outcome,
  type ReceivedDocument,
} from '../src/store/documents/documents.ts';
import type { Db } from '../src/store/engine/database.ts';
import { keepOriginal } from '../src/store/inputs/originals.ts';

/** A source whose documents are known without reading it. */
export interface MadeUpSource {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly documents: readonly {
    readonly member: readonly string[];
    readonly content: AggregateReport | Refusal;
  }[];
}

/** Stores sources as if they had been read, and returns the outcome of each document. */
export async function receiveSources(
  db: Db,
  sources: readonly MadeUpSource[],
  receivedAt: Instant,
): Promise<Outcome[]> {
  const received: ReceivedDocument[] = [];
  for (const { documents, ...source } of sources) {
    const original = await keepOriginal(db, source, receivedAt);
    received.push(...documents.map((document, ordinal) => ({ original, ordinal, ...document })));
  }
  return await insertReceived(db, received, receivedAt);
}
