import { toHex } from '../../domain/hex.ts';
import { unpackContent } from '../../domain/reports/report-content.ts';
import { findPolicies } from '../../domain/reports/tls-content.ts';
import { addReport, keepLargest, type SourceSums } from '../../domain/sources/day-sources.ts';
import { readOriginal } from '../../store/documents/originals.ts';
import type { Store } from '../../store/engine/store.ts';
import type { DocumentId } from '../../store/reports/document-list.ts';
import {
  findDocumentSeq,
  findStoredConflict,
  findStoredRejection,
  findStoredReport,
} from '../../store/reports/document-list.ts';
import { type OutputOptions, printBytes, printList, printOne } from '../output/output.ts';
import { withStore } from '../with-store.ts';

const SOURCES_SHOWN = 5;

export async function showDocument(id: DocumentId, options: OutputOptions): Promise<void> {
  if (id.kind === 'conflict') {
    const { report, stands, conflict } = await withStore((store) => compare(store, id.seq));
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
  const found = await findStoredReport(db, id.id);
  const { id: report, version, revision, conflicts, warnings } = found;
  const about = { id: report, kind: found.kind ?? 'dmarc', ...toShown(found), version, revision };
  const codes = (JSON.parse(warnings) as { code: string }[]).map(({ code }) => code);
  const names = conflicts.map((conflict) => `conflict-${conflict}`);
  return {
    ...about,
    warnings: codes.join(', ') || null,
    conflicts: names.join(', ') || null,
  };
}

async function compare({ db }: Store, conflictSeq: number) {
  const conflict = await findStoredConflict(db, conflictSeq);
  const report = await findStoredReport(db, conflict.report);
  return { report: report.id, stands: toShown(report), conflict: toShown(conflict) };
}

type Shown = Readonly<Record<string, string | number | null>>;
type Stored = Awaited<ReturnType<typeof findStoredReport | typeof findStoredConflict>>;

function toShown(stored: Stored): Shown {
  return {
    received_at: stored.received_at,
    input: stored.input,
    member: stored.member,
    sha256_first_half: toHex(stored.payload_sha256),
    domain: stored.domain,
    reporter_org: stored.reporter_org,
    reporter_email: stored.reporter_email,
    authenticated: stored.authenticated,
    doubt: stored.doubt,
    report_id: stored.report_id,
    begin_date: stored.begin_date,
    end_date: stored.end_date,
    ...(stored.kind === 'tls' ? toSessions(stored) : toMessages(stored)),
  };
}

function toMessages({ content, record_count, total_messages, aligned_messages }: Stored): Shown {
  const { policyPublished, records } = unpackContent(content);
  const { p, sp, np, adkim, aspf, pct, fo } = policyPublished;
  const sums: SourceSums = new Map();
  addReport(sums, { reporter: null, records });
  const largest = keepLargest(sums).slice(0, SOURCES_SHOWN);
  const sources = largest.map(({ address, messages, aligned }, i) => {
    return [`source_${i + 1}`, `${address}: ${messages} messages, ${aligned} aligned`];
  });
  const counts = { record_count, total_messages, aligned_messages };
  return { ...counts, ...Object.fromEntries(sources), p, sp, np, adkim, aspf, pct, fo };
}

function toSessions({ content, total_messages, aligned_messages }: Stored): Shown {
  const shown = (findPolicies(content) ?? []).slice(0, SOURCES_SHOWN);
  const policies = shown.map(({ type, domain, mode, successes, failures, details }, i) => {
    const name = [type, domain, mode].filter(Boolean).join(' ');
    const types = [...new Set(details.map(({ resultType }) => resultType))].slice(0, SOURCES_SHOWN);
    const why = types.length === 0 ? '' : ` (${types.join(', ')})`;
    return [`policy_${i + 1}`, `${name}: ${successes} sessions, and ${failures} failed${why}`];
  });
  const failed_sessions = total_messages - aligned_messages;
  const counts = { successful_sessions: aligned_messages, failed_sessions };
  return { ...counts, ...Object.fromEntries(policies) };
}

function toRows(stands: Shown, conflict: Shown) {
  const fields = new Set([...Object.keys(stands), ...Object.keys(conflict)]);
  return [...fields].map((field) => ({
    field,
    stands: stands[field] ?? null,
    conflict: conflict[field] ?? null,
  }));
}
