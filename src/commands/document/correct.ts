import { Failure } from '../../domain/failure.ts';
import { toInstant } from '../../domain/instant.ts';
import type { AggregateReport } from '../../domain/reports/aggregate-report.ts';
import {
  preferConflict,
  type ReportToRemove,
  removeConflict,
  removeRejection,
  removeReport,
} from '../../store/corrections/corrections.ts';
import type { DocumentId } from '../../store/documents/document-list.ts';
import {
  findStoredConflict,
  findStoredReport,
  type StoredReport,
} from '../../store/documents/stored-document.ts';
import { type RereadDeps, readAgain, toFailure } from './read-again.ts';

export interface Corrected {
  readonly report: string | null;
  /** Its domain, when the domain's list may have changed; else null. */
  readonly domainId: string | null;
  /** The number of the conflict that replaced a removed report. */
  readonly replacedBy: number | null;
  /** Why the report's source addresses are not known; null when they are. */
  readonly unread: string | null;
}

const UNCHANGED: Corrected = { report: null, domainId: null, replacedBy: null, unread: null };

/** Both contents are read again; when one cannot be read, nothing changes. */
export async function prefer(deps: RereadDeps, conflictSeq: number): Promise<Corrected> {
  const { db } = deps.store;
  const conflict = await findStoredConflict(db, conflictSeq);
  const report = await findStoredReport(db, conflict.report);
  const former = await readAgain(deps, report.id, report);
  const preferred = await readAgain(deps, report.id, conflict);
  await preferConflict(db, conflictSeq, { former, preferred });
  return { ...UNCHANGED, report: report.id, domainId: report.domain_id };
}

export async function remove(deps: RereadDeps, id: DocumentId): Promise<Corrected> {
  const { db } = deps.store;
  if (id.kind === 'report') return await removeStoredReport(deps, id.id);
  if (id.kind === 'rejection') {
    await removeRejection(db, id.seq);
    return UNCHANGED;
  }
  const { report } = await findStoredConflict(db, id.seq);
  await removeConflict(db, id.seq, toInstant(deps.now()));
  return { ...UNCHANGED, report };
}

/** A report whose original cannot be read any more can still be removed, because its row has its totals. */
async function removeStoredReport(deps: RereadDeps, id: string): Promise<Corrected> {
  const { db } = deps.store;
  const report = await findStoredReport(db, id);
  const former = await readAgain(deps, id, report).catch(toFailure);
  const next = await readOldestConflict(deps, report);
  const isRead = !(former instanceof Failure);
  const { payload_sha256: payloadSha256 } = report;
  const toRemove = { id, payloadSha256, former: isRead ? former : null, next };
  await removeReport(db, toRemove, toInstant(deps.now()));
  const replacedBy = next?.seq ?? null;
  const unread = isRead ? null : former.message;
  return { report: id, domainId: report.domain_id, replacedBy, unread };
}

async function readOldestConflict(
  deps: RereadDeps,
  { id, conflicts: [seq] }: StoredReport,
): Promise<ReportToRemove['next']> {
  if (seq === undefined) return null;
  const conflict = await findStoredConflict(deps.store.db, seq);
  const content: AggregateReport | Failure = await readAgain(deps, id, conflict).catch(toFailure);
  if (!(content instanceof Failure)) return { seq, content };
  const hint = `conflict-${seq} would take the report’s place: remove conflict-${seq} first.`;
  throw new Failure('conflict', `${content.message} ${hint}`);
}
