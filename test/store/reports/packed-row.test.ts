import { expect, test } from 'vitest';
import { toParsedRow, unpackRow } from '../../../src/store/reports/report-row.ts';
import { aReport } from '../../support/builders.ts';

/** A conflict as it is stored by 1.2.0: the columns of its report. Never edit it for a column that comes later. */
const STORED = JSON.stringify({
  ...{ kind: null, policies: null, reporter_org: 'Provider', reporter_email: null },
  ...{ reporter: 1, reporter_host: null, report_id: 'r-1' },
  ...{ begin_date: '2026-03-10T00:00:00Z', end_date: '2026-03-10T23:59:59Z' },
  ...{ record_count: 0, total_messages: 0, aligned_messages: 0, dkim_aligned: 0, spf_aligned: 0 },
  ...{ quarantined: 0, rejected: 0, otherwise: 0, warnings: '[]', content: '' },
});

test('a conflict that was stored by a former version has all columns of a report when it takes its place', () => {
  const columns = Object.keys(toParsedRow(aReport()));
  expect(Object.keys(unpackRow(STORED)).toSorted()).toEqual(columns.toSorted());
});
