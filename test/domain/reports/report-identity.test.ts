import { describe, expect, test } from 'vitest';
import { toReportId } from '../../../src/domain/reports/report-identity.ts';
import { aReport } from '../../support/builders.ts';

const BASE = {
  domain: 'example.com',
  orgName: 'Mailbox Provider',
  reportId: '2026-0001',
  begin: '2026-03-14T00:00:00Z',
  end: '2026-03-14T23:59:59Z',
  payload: 'one',
} as const;
const base = aReport(BASE);

describe('a report is the same as another one', () => {
  test.each<[string, Partial<Parameters<typeof aReport>[0]>]>([
    ['with another content', { payload: 'two', totalMessages: 99 }],
    ['with another contact', { email: null }],
    ['with org_name in another case', { orgName: 'MAILBOX provider' }],
  ])('%s', (_what, change) => {
    expect(toReportId(aReport({ ...BASE, ...change }))).toBe(toReportId(base));
  });

  test('without a report_id, when the bytes are the same', () => {
    const a = aReport({ ...BASE, reportId: null, payload: 'one' });
    expect(toReportId(aReport({ ...BASE, reportId: null, payload: 'one' }))).toBe(toReportId(a));
    expect(toReportId(aReport({ ...BASE, reportId: null, payload: 'two' }))).not.toBe(
      toReportId(a),
    );
  });
});

describe('a report is a different one', () => {
  test.each<[string, Partial<Parameters<typeof aReport>[0]>]>([
    ['for another domain', { domain: 'example.org' }],
    ['from another organisation', { orgName: 'Other Provider' }],
    ['from nobody', { orgName: null }],
    ['from an organisation called null', { orgName: 'null' }],
    ['with another report_id', { reportId: '2026-0002' }],
    ['with an additional blank in its report_id', { reportId: '2026-0001 ' }],
    ['with another beginning', { begin: '2026-03-14T00:00:01Z' }],
    ['with another end', { end: '2026-03-15T00:00:00Z' }],
    ['without a report_id', { reportId: null }],
  ])('%s', (_what, change) => {
    expect(toReportId(aReport({ ...BASE, ...change }))).not.toBe(toReportId(base));
  });

  test('the case of report_id matters: some reporters count in base62', () => {
    const [a, b] = ['aB', 'Ab'].map((reportId) => toReportId(aReport({ ...BASE, reportId })));
    expect(a).not.toBe(b);
  });

  test('adjacent fields are separated', () => {
    const a = aReport({ ...BASE, orgName: 'a","b', reportId: 'c' });
    const b = aReport({ ...BASE, orgName: 'a', reportId: 'b","c' });
    expect(toReportId(a)).not.toBe(toReportId(b));
  });

  test('a report_id that looks like the placeholder for a missing one is different', () => {
    const { payloadSha256 } = base;
    const none = aReport({ ...BASE, reportId: null });
    const liar = aReport({ ...BASE, reportId: JSON.stringify({ payloadSha256 }) });
    expect(toReportId(liar)).not.toBe(toReportId(none));
  });
});

describe('toReportId', () => {
  test('is a UUID of version 8 (RFC 9562), in lower case', () => {
    for (let i = 0; i < 100; i++) {
      expect(toReportId(aReport({ reportId: `${i}` }))).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
    }
  });

  test('never changes, because partners store it', () => {
    expect(toReportId(base)).toBe('30b3d52a-a527-87b6-8126-460a198c4e41');
    expect(toReportId(aReport({ ...BASE, orgName: null, reportId: null }))).toBe(
      '9418ce0d-1abb-8f24-8d73-1fbdda4a78b6',
    );
  });
});
