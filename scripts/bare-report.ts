import type { AggregateReport, ReportRecord } from '../src/domain/reports/aggregate-report.ts';
import { addToTally, EMPTY_TALLY } from '../src/domain/reports/alignment.ts';
import { LargestRecords } from '../src/domain/reports/largest-records.ts';
import { packContent } from '../src/domain/reports/report-content.ts';

/* The fields that every report needs: made-up reports start from this and set only the fields that matter. */

export const BARE_REPORT = {
  xmlNamespace: null,
  version: null,
  warnings: [],
} satisfies Partial<AggregateReport>;

export const BARE_METADATA = {
  extraContactInfo: null,
  errors: [],
  generator: null,
} satisfies Partial<AggregateReport['metadata']>;

export const BARE_POLICY = {
  p: 'none',
  sp: null,
  np: null,
  adkim: null,
  aspf: null,
  pct: null,
  fo: null,
  testing: null,
  discoveryMethod: null,
} satisfies Partial<AggregateReport['policyPublished']>;

type Parts = Omit<AggregateReport, 'tally' | 'content'>;

/** A report whose totals and content are those of its records. */
export function withRecords(parts: Parts, records: readonly ReportRecord[]): AggregateReport {
  const tally = records.reduce(addToTally, EMPTY_TALLY);
  const largest = new LargestRecords();
  for (const record of records) largest.add(record);
  const content = packContent({ ...parts, tally }, largest.end());
  return { ...parts, tally, content };
}

/** What a made-up record says, which passes nothing unless it says so. */
export interface WantedRecord {
  readonly sourceIp?: string;
  readonly count?: number;
  readonly headerFrom?: string | null;
  readonly spf?: 'pass' | 'fail';
  readonly dkim?: 'pass' | 'fail';
  readonly disposition?: string | null;
  readonly reasons?: ReportRecord['policyEvaluated']['reasons'];
  readonly spfDomain?: string;
  readonly spfResult?: string;
  readonly signatures?: ReportRecord['authResults']['dkim'];
}

export function aRecord({
  sourceIp = '192.0.2.1',
  count = 1,
  headerFrom = 'example.com',
  spf = 'fail',
  dkim = 'fail',
  disposition = 'none',
  reasons = [],
  spfDomain = 'bounces.mailer.example',
  spfResult = 'pass',
  signatures = [],
}: WantedRecord = {}): ReportRecord {
  const envelope = { envelopeFrom: null, envelopeTo: null };
  const result = { domain: spfDomain, scope: 'mfrom', result: spfResult, humanResult: null };
  return {
    sourceIp,
    count,
    policyEvaluated: { disposition, dkim, spf, reasons },
    identifiers: { headerFrom, ...envelope },
    authResults: { dkim: signatures, spf: [result] },
  };
}

/** Records of an address that sent so many messages, and passed DMARC with so many. */
export function recordsOf(sourceIp: string, messages: number, aligned = 0): ReportRecord[] {
  const failed = aRecord({ sourceIp, count: messages - aligned });
  const passed = aRecord({ sourceIp, count: aligned, dkim: 'pass' });
  return [failed, passed].filter(({ count }) => count > 0);
}
