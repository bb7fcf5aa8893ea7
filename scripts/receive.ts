import { hash } from 'node:crypto';
import type { Instant } from '../src/domain/instant.ts';
import { packOriginal } from '../src/domain/reports/original.ts';
import type { Refusal } from '../src/domain/reports/refusal.ts';
import type { Report } from '../src/domain/reports/report.ts';
import type { Db } from '../src/store/engine/database.ts';
import {
  insertReceived,
  type Outcome,
  type ReceivedDocument,
} from '../src/store/reports/receive.ts';
import type { DocumentSender } from '../src/store/reports/senders.ts';

/** An input whose documents are known without reading it. */
export interface MadeUpInput {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly documents: readonly (DocumentSender & {
    readonly member: readonly string[];
    readonly content: Report | Refusal;
  })[];
}

/** The only document of an input has the whole input as its original. Of several, none is kept. */
export function toReceived({ name, bytes, documents }: MadeUpInput): ReceivedDocument[] {
  const input = { name, sha256: hash('sha256', bytes, 'hex'), size: bytes.length };
  const isOnly = documents.length === 1;
  return documents.map((document, i) => ({
    ...{ input, path: isOnly ? '' : `${i + 1}`, ...document },
    original: isOnly ? packOriginal(bytes) : null,
  }));
}

/** Stores inputs as if they had been read, and returns the outcome of each document. */
export async function receiveInputs(
  db: Db,
  inputs: readonly MadeUpInput[],
  receivedAt: Instant,
): Promise<Outcome[]> {
  return await insertReceived(db, inputs.flatMap(toReceived), receivedAt);
}
