import { Failure } from '../../domain/failure.ts';
import type { AggregateReport } from '../../domain/reports/aggregate-report.ts';
import { toReportId } from '../../domain/reports/report-identity.ts';
import { createInputParser } from '../../intake/parser/input-parser.ts';
import type { Parser } from '../../intake/parser/parser.ts';
import { readOriginal } from '../../store/documents/originals.ts';
import type { DocumentLocation } from '../../store/documents/stored-document.ts';
import type { Store } from '../../store/engine/store.ts';
import { withStore } from '../with-store.ts';

export interface RereadDeps {
  readonly store: Store;
  readonly parser: Parser;
  readonly now: () => Date;
}

export async function withParser<T>(work: (deps: RereadDeps) => Promise<T>): Promise<T> {
  const parser = createInputParser();
  try {
    return await withStore((store) => work({ store, parser, now: () => new Date() }));
  } finally {
    await parser.close();
  }
}

/**
 * Reads a content again from the original bytes, because records, addresses and policy are not stored. Throws
 * `not_found` when the original is incomplete, or the content is not in it.
 */
export async function readAgain(
  { store, parser }: RereadDeps,
  reportId: string,
  { document_seq, payload_sha256, input, received_at }: DocumentLocation,
): Promise<AggregateReport> {
  const bytes = await readOriginal(store.db, document_seq);
  const reasons: string[] = [];
  for await (const document of parser.parse(bytes, { nowMs: Date.parse(received_at) })) {
    if (document.kind !== 'report') reasons.push(document.refusal.message);
    else if (document.report.payloadSha256 === payload_sha256) {
      if (toReportId(document.report) === reportId) return document.report;
      reasons.push('The current parser reads it as another report.');
    }
  }
  const [reason = 'The content is not in it.'] = reasons;
  throw new Failure('not_found', `${input} cannot be read again as this report. ${reason}`);
}

/** Returns an expected failure, for a caller that continues without the result, and throws any other error. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}
