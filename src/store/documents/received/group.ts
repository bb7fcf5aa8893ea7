import type { AggregateReport } from '../../../domain/reports/aggregate-report.ts';
import { Refusal } from '../../../domain/reports/refusal.ts';
import type { Tx } from '../../engine/database.ts';
import { type BoundQuery, runAllPrepared } from '../../engine/prepared.ts';
import { insertOriginals, type Original, type StoredOriginal } from '../../inputs/originals.ts';
import type { Arrivals } from '../arrivals.ts';
import { type Outcome, type ReceivedDocument, toMember } from './document.ts';
import { rejectionDelete, rejectionUpsert, toRejection } from './rejections.ts';
import { insertReports, type PlacedReport } from './reports.ts';

/** What a transaction knows of its documents. */
export interface Transaction {
  readonly arrivals: Arrivals;
  /** The inputs that it has stored, or found. */
  readonly originals: Map<Original, StoredOriginal>;
  /** Whether an operator has ever removed a payload. */
  readonly hasRemovals: boolean;
}

/** Stores documents with a few statements for all of them, and returns their outcomes. */
export async function insertGroup(
  tx: Tx,
  documents: readonly ReceivedDocument[],
  transaction: Transaction,
): Promise<Outcome[]> {
  const { arrivals, originals } = transaction;
  await insertOriginals(tx, documents, originals);
  const placed = documents.map((document) => ({
    ...(originals.get(document.original) as StoredOriginal),
    document,
  }));
  await runAllPrepared(tx, toRejections(placed, arrivals));
  const reports = placed.flatMap(toPlacedReport);
  const outcomes = (await insertReports(tx, reports, transaction)).values();
  return documents.map(({ content }) =>
    content instanceof Refusal ? 'rejected' : (outcomes.next().value as Outcome),
  );
}

interface Placed extends StoredOriginal {
  readonly document: ReceivedDocument;
}

/** What changes in the table of rejections, in the order of the documents. */
function toRejections(placed: readonly Placed[], { receivedAt }: Arrivals): BoundQuery<never>[] {
  return placed.flatMap(({ inputSeq, isKnown, document }) => {
    const { content, ordinal } = document;
    if (!(content instanceof Refusal))
      return isKnown ? [rejectionDelete({ inputSeq, ordinal })] : [];
    const at = { inputSeq, ordinal, member: toMember(document), receivedAt };
    return [rejectionUpsert(toRejection(content, at))];
  });
}

function toPlacedReport({ inputSeq, document }: Placed): PlacedReport[] {
  if (document.content instanceof Refusal) return [];
  const report: AggregateReport = document.content;
  return [{ report, inputSeq, member: toMember(document) }];
}
