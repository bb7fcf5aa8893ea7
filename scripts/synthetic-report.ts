import { hash } from 'node:crypto';
import type { AggregateReport } from '../src/domain/reports/aggregate-report.ts';
import { BARE_METADATA, BARE_POLICY, BARE_REPORT, recordsOf, withRecords } from './bare-report.ts';

const FIRST_DAY = Date.UTC(2023, 0, 1) / 1000;
const DAY_SECONDS = 86_400;
const REPORTERS = 8;

interface Wanted {
  readonly domain: string;
  readonly number: number;
  /** Days since the first day. */
  readonly day: number;
}

/** A report as the reader would return it, made without a document. */
export function aSyntheticReport({ domain, number, day }: Wanted): AggregateReport {
  const reporter = `reporter-${number % REPORTERS}.example`;
  const begin = FIRST_DAY + day * DAY_SECONDS;
  const totalMessages = 10 + ((number * 7919) % 990);
  const alignedMessages = Math.floor(totalMessages * 0.97);
  const report = {
    ...BARE_REPORT,
    metadata: {
      ...BARE_METADATA,
      orgName: `Reporter ${reporter}`,
      email: `dmarc-reports@${reporter}`,
      reportId: `${number}`,
      begin,
      end: begin + DAY_SECONDS - 1,
    },
    policyPublished: { ...BARE_POLICY, domain, pct: 100 },
    payloadSha256: hash('sha256', `${domain} ${number}`, 'hex').slice(0, 32),
  };
  return withRecords(report, [
    ...recordsOf('192.0.2.10', alignedMessages, alignedMessages),
    ...recordsOf('192.0.2.20', totalMessages - alignedMessages),
  ]);
}
