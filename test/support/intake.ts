import { readFileSync } from 'node:fs';
import type { AggregateReport, ReportRecord } from '../../src/domain/reports/aggregate-report.ts';
import { Budget } from '../../src/intake/budget.ts';
import { readDocuments } from '../../src/intake/containers/documents.ts';
import { type Content, toContent } from '../../src/intake/content.ts';
import type { IntakeDocument } from '../../src/intake/intake-document.ts';
import { MAX_INPUT_BYTES } from '../../src/intake/limits.ts';
import { readFeedback } from '../../src/intake/report/feedback.ts';
import { WarningLog } from '../../src/intake/warnings.ts';

/** A time after all fixtures. */
export const NOW = Date.UTC(2026, 7, 1);

export const fixture = (name: string): Buffer =>
  readFileSync(new URL(`../fixtures/${name}`, import.meta.url));

/** Two records, seven messages that pass and three that fail, no warnings. */
export const PLAIN = fixture('example-plain.xml').toString();

/** The plain report with one change. */
export function plainWith(from: string, to: string): string {
  if (!PLAIN.includes(from)) throw new Error(`The plain report has no ${from}`);
  return PLAIN.replace(from, () => to);
}

const toBytes = (content: Uint8Array | string): Uint8Array => Buffer.from(content);

export async function readAll(content: Uint8Array | string): Promise<IntakeDocument[]> {
  const bytes = toBytes(content);
  return await Array.fromAsync(
    readDocuments(bytes, { nowMs: NOW, budget: new Budget(bytes.length) }),
  );
}

/** The documents in short form: `report 2026-0001`, `rejected bad_xml`, `ignored no_report`. */
export async function outcomes(content: Uint8Array | string): Promise<string[]> {
  return (await readAll(content)).map(toOutcome);
}

function toOutcome(document: IntakeDocument): string {
  if (document.kind === 'report') return `report ${document.report.metadata.reportId}`;
  return `${document.kind} ${document.refusal.reason}`;
}

export interface FeedbackRead {
  readonly report: AggregateReport;
  readonly records: readonly ReportRecord[];
  readonly warnings: readonly string[];
}

/** One XML document read as a report, with its records. Throws its refusal. */
export async function read(content: Uint8Array | string | Content): Promise<FeedbackRead> {
  const records: ReportRecord[] = [];
  const chunks =
    typeof content === 'string' || content instanceof Uint8Array
      ? toContent(toBytes(content))
      : content;
  const report = await readFeedback(chunks, {
    log: new WarningLog(),
    nowMs: NOW,
    budget: new Budget(MAX_INPUT_BYTES),
    onRecord: (record) => records.push(record),
  });
  return { report, records, warnings: report.warnings.map(({ code }) => code) };
}
