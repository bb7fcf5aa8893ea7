import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { AggregateReport } from '../../src/domain/reports/aggregate-report.ts';
import { unpackOriginal } from '../../src/domain/reports/original.ts';
import { isTls } from '../../src/domain/reports/report.ts';
import { openSample, SAMPLES, type Sample } from '../support/corpus.ts';
import { readAll } from '../support/intake.ts';

const unambiguous = SAMPLES.filter(({ ambiguous }) => ambiguous === '');
const accepted = unambiguous.filter((row) => row.expect !== 'reject');
// The independent reader knows no TLS reports.
const ofTls = unambiguous.filter((row) => row.path.includes('tls'));
const rejected = unambiguous.filter((row) => row.expect === 'reject' && !ofTls.includes(row));

/** The one placeholder among them has a blank address and a count of 0. We drop such records. */
function expectedRecords({ oddities, records, usable_records }: Sample): number {
  const isPlaceholder = oddities.includes('source_ip_blank') && oddities.includes('count_zero');
  return Number(isPlaceholder ? usable_records : records);
}

function toExpected(row: Sample) {
  return {
    domain: row.domain_norm,
    orgName: row.org_name || null,
    email: row.email || null,
    reportId: row.report_id || null,
    begin: Number(row.begin),
    end: Number(row.end),
    records: expectedRecords(row),
    total: Number(row.total_count),
    aligned: Number(row.aligned_count),
  };
}

function toFound({ metadata, policyPublished, tally }: AggregateReport) {
  const { orgName, email, reportId, begin, end } = metadata;
  return {
    ...{ domain: policyPublished.domain, orgName, email, reportId, begin, end },
    records: tally.recordCount,
    total: tally.totalMessages,
    aligned: tally.alignedMessages,
  };
}

/** The reporter (closing-line.ts) prints the reason before the last line. */
test('the samples beside the project are those that their list names', ({ skip }) => {
  skip(
    SAMPLES.length === 0,
    'The sample reports in ../shared/corpus are absent: none of them was read.',
  );
  for (const row of SAMPLES)
    expect(hash('sha256', openSample(row)), row.path).toBe(row.file_sha256);
});

describe.skipIf(SAMPLES.length === 0)('the corpus of sample reports', () => {
  test.each(accepted)('$repo $path is read as expected', async (row) => {
    const [document, ...others] = await readAll(openSample(row));
    if (document?.kind !== 'report' || isTls(document.report))
      throw new Error(`It is ${document?.kind}`);
    expect(toFound(document.report)).toEqual(toExpected(row));
    expect(others).toEqual([]);
  });

  test('is kept in parts that give the same reports again', async () => {
    let parts = 0;
    for (const row of accepted) {
      const [document] = await readAll(openSample(row));
      if (document?.kind !== 'report') throw new Error(`${row.path} is ${document?.kind}`);
      const { original, report } = document;
      if (original === undefined) continue;
      parts += 1;
      const bytes = original && (await unpackOriginal(original));
      const again = await readAll(bytes ?? '');
      expect(again, row.path).toMatchObject([{ kind: 'report', report }]);
    }
    // Only a mail has more than its report.
    expect(parts).toBe(accepted.filter(({ chain }) => chain.startsWith('eml')).length);
  });

  test.each(ofTls)('$repo $path is a TLS report', async (row) => {
    const [document, ...others] = await readAll(openSample(row));
    expect(document?.kind === 'report' && isTls(document.report)).toBe(true);
    expect(others).toEqual([]);
  });

  // The independent reader has one code for everything that is not a report.
  test.each(rejected)('$repo $path is $reject_code', async (row) => {
    const [document, ...others] = await readAll(openSample(row));
    if (document?.kind !== 'rejected') throw new Error(`It is ${document?.kind}`);
    const { reason } = document.refusal;
    expect(reason === 'not_aggregate' ? 'no_report' : reason).toBe(row.reject_code);
    expect(others).toEqual([]);
  });
});
