import { gzipSync } from 'node:zlib';
import type { AggregateReport } from '../../domain/reports/aggregate-report.ts';
import { LargestRecords } from '../../domain/reports/largest-records.ts';
import { Refusal } from '../../domain/reports/refusal.ts';
import type { RecordPart, RecordRange } from '../../domain/reports/report-content.ts';
import type { Content } from '../content.ts';
import { type FeedbackOptions, readFeedback } from './feedback.ts';

/** One report of an input of which a page shows more than its metadata and totals. */
export interface RequestedReport {
  /** Of the XML document, in hex. */
  readonly payloadSha256: string;
  readonly what: RecordRange | 'document';
}

export type RequestedContent =
  | ({ readonly kind: 'records' } & RecordPart)
  /** The document's bytes, in gzip. */
  | { readonly kind: 'document'; readonly gzip: Uint8Array };

interface ReadReport {
  readonly report: AggregateReport;
  /** Absent when this is not the requested report. */
  readonly requested?: RequestedContent;
}

/** Reads a report, which only its last byte shows to be the requested one. Throws a Refusal. */
export async function readRequested(
  content: Content,
  { payloadSha256, what }: RequestedReport,
  options: FeedbackOptions,
): Promise<ReadReport> {
  if (what === 'document') return await readDocument(content, payloadSha256, options);
  const records = new LargestRecords();
  const onRecord = (record: Parameters<LargestRecords['add']>[0]) => records.add(record);
  const report = await readFeedback(content, { ...options, onRecord });
  if (report.payloadSha256 !== payloadSha256) return { report };
  return { report, requested: { kind: 'records', ...records.part(what) } };
}

/** Fast, because the answer is unpacked again at once. Reports pack well at any level. */
const PACKING = { level: 1 };
/** An honest report of 60 MB packs to less than 2 MB. It is in memory while it is sent. */
const MAX_PACKED_BYTES = 8 * 1024 * 1024;

async function readDocument(
  content: Content,
  payloadSha256: string,
  options: FeedbackOptions,
): Promise<ReadReport> {
  // `readFeedback` limits the size.
  const pieces: Uint8Array[] = [];
  const report = await readFeedback(gather(content, pieces), options);
  if (report.payloadSha256 !== payloadSha256) return { report };
  const gzip = gzipSync(Buffer.concat(pieces), PACKING);
  if (gzip.length > MAX_PACKED_BYTES)
    throw new Refusal('too_large', 'It is too large to be downloaded here.');
  return { report, requested: { kind: 'document', gzip } };
}

async function* gather(content: Content, pieces: Uint8Array[]): Content {
  for await (const piece of content) {
    pieces.push(piece);
    yield piece;
  }
}
