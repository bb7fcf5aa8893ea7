import { Failure } from '../../domain/failure.ts';
import type { AggregateReport } from '../../domain/reports/aggregate-report.ts';
import type { DocumentId } from '../../store/documents/document-list.ts';
import { readOriginal } from '../../store/documents/originals.ts';
import {
  type DocumentLocation,
  findDocumentSeq,
  findStoredConflict,
  findStoredRejection,
  findStoredReport,
} from '../../store/documents/stored-document.ts';
import type { Store } from '../../store/engine/store.ts';
import { toReportFields } from '../../store/reports/report-row.ts';
import { type OutputOptions, printBytes, printList, printOne } from '../output/output.ts';
import { withStore } from '../with-store.ts';
import { type RereadDeps, readAgain, toFailure, withParser } from './read-again.ts';

const SOURCES_SHOWN = 5;

export async function showDocument(id: DocumentId, options: OutputOptions): Promise<void> {
  if (id.kind === 'conflict') {
    const { report, stands, conflict } = await withParser((deps) => compare(deps, id.seq));
    const both = { id: `conflict-${id.seq}`, report, stands, conflict };
    if (options.json) printOne(both, options);
    else printList(toRows(stands, conflict), { none: '' }, options);
    return;
  }
  printOne(await withStore((store) => describe(store, id)), options);
}

/** Writes the bytes in which a document came to standard output. */
export async function writeOriginal(id: DocumentId): Promise<void> {
  await printBytes(() =>
    withStore(async ({ db }) => {
      return await readOriginal(db, await findDocumentSeq(db, id));
    }),
  );
}

async function describe({ db }: Store, id: Exclude<DocumentId, { kind: 'conflict' }>) {
  if (id.kind === 'rejection') {
    const { document_seq, reason, message, place, input, member, received_at } =
      await findStoredRejection(db, id.seq);
    const why = { reason, message, where: place };
    return { id: `rejection-${document_seq}`, ...why, received_at, input, member };
  }
  const { seq, domain_id, document_seq, conflicts, warnings, ...stored } = await findStoredReport(
    db,
    id.id,
  );
  const { input, member, payload_sha256, ...report } = stored;
  const codes = (JSON.parse(warnings) as { code: string }[]).map(({ code }) => code);
  const names = conflicts.map((conflict) => `conflict-${conflict}`);
  return {
    ...report,
    ...{ input, member, payload_sha256 },
    warnings: codes.join(', ') || null,
    conflicts: names.join(', ') || null,
  };
}

async function compare(deps: RereadDeps, conflictSeq: number) {
  const conflict = await findStoredConflict(deps.store.db, conflictSeq);
  const report = await findStoredReport(deps.store.db, conflict.report);
  return {
    report: report.id,
    stands: await toShown(deps, report.id, report),
    conflict: await toShown(deps, report.id, conflict),
  };
}

type Shown = Readonly<Record<string, string | number | null>>;

async function toShown(
  deps: RereadDeps,
  reportId: string,
  location: DocumentLocation,
): Promise<Shown> {
  const { received_at, input, member, payload_sha256 } = location;
  const content = await readAgain(deps, reportId, location).catch(toFailure);
  const shown = content instanceof Failure ? { problem: content.message } : toFields(content);
  return { received_at, input, member, payload_sha256, ...shown };
}

function toFields(report: AggregateReport): Shown {
  const { policyPublished, sources = [] } = report;
  const { domain, p, sp, np, adkim, aspf, pct, fo } = policyPublished;
  const largest = sources.slice(0, SOURCES_SHOWN).map(({ address, messages, aligned }, i) => {
    return [`source_${i + 1}`, `${address}: ${messages} messages, ${aligned} aligned`];
  });
  return {
    domain,
    ...toReportFields(report),
    ...Object.fromEntries(largest),
    ...{ p, sp, np, adkim, aspf, pct, fo },
  };
}

function toRows(stands: Shown, conflict: Shown) {
  const fields = new Set([...Object.keys(stands), ...Object.keys(conflict)]);
  return [...fields].map((field) => ({
    field,
    stands: stands[field] ?? null,
    conflict: conflict[field] ?? null,
  }));
}
