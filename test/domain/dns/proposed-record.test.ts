import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_THRESHOLDS } from '../../../src/domain/alerts/thresholds.ts';
import { type RecordValue, toPolicies } from '../../../src/domain/dns/dns-record.ts';
import {
  addCheck,
  type DnsRecordState,
  UNKNOWN_RECORD,
} from '../../../src/domain/dns/dns-watch.ts';
import { findInherited, toHeld, toParents } from '../../../src/domain/dns/held-policy.ts';
import { toProposedRecord } from '../../../src/domain/dns/records-to-publish.ts';
import { findReportAddresses } from '../../../src/domain/dns/report-addresses.ts';
import { describeStep } from '../../../src/domain/next-step-texts.ts';

const ADDRESS = 'reports@inbox.example';
const STRENGTHS = ['absent', 'none', 'quarantine', 'reject'];
const strengthOf = (record: RecordValue) =>
  Object.values(toPolicies(record)).map((policy) => Math.max(1, STRENGTHS.indexOf(policy)));

const policy = fc.constantFrom('none', 'quarantine', 'reject', 'REJECT', 'block', '');
const tag = fc.oneof(
  fc.tuple(fc.constantFrom('p', 'sp', 'np'), policy).map(([name, value]) => `${name}=${value}`),
  fc.constantFrom('t=y', 'pct=50', 'adkim=s', 'aspf=s', 'fo=1', 'ruf=mailto:f@other.example'),
  fc.constantFrom('rua=mailto:x@other.example', `rua=mailto:${ADDRESS}`, 'rua=', 'psd=n', 'x'),
);
const record = fc
  .array(tag, { maxLength: 6 })
  .map((tags) => ['v=DMARC1', ...tags].join('; ')) as fc.Arbitrary<string>;
const known = fc.record({
  value: fc.option(record),
  inherited: fc.option(
    record.map((value) => ({ from: 'parent.example', value })),
    { nil: undefined },
  ),
});

const weakerThan = (proposed: RecordValue, held: RecordValue) =>
  strengthOf(proposed).some((strength, i) => strength < (strengthOf(held)[i] ?? 0));

describe('a record that is proposed', () => {
  test('is never weaker than what holds, with or without a record of its own or above', () => {
    fc.assert(
      fc.property(known, (dns) => {
        for (const kind of ['first_reports', 'lock'] as const) {
          const domain = { id: 'x', name: 'a.parent.example', address: ADDRESS, dns };
          const { code } = describeStep({ kind }, domain);
          if (code !== undefined) expect(weakerThan(code, toHeld(dns))).toBe(false);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  test('names our address once, and all that the record named before', () => {
    fc.assert(
      fc.property(record, (value) => {
        const named = findReportAddresses(toProposedRecord(value, ADDRESS));
        expect(named.filter((one) => one === ADDRESS)).toHaveLength(1);
        expect(named).toEqual(expect.arrayContaining([...findReportAddresses(value)]));
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    [
      'v=DMARC1; p=quarantine; rua=mailto:x@other.example',
      'v=DMARC1; p=quarantine; rua=mailto:x@other.example,mailto:reports@inbox.example',
    ],
    [
      'v=DMARC1;p=reject;sp=none;adkim=s',
      'v=DMARC1; p=reject; sp=none; adkim=s; rua=mailto:reports@inbox.example',
    ],
    [null, 'v=DMARC1; p=none; rua=mailto:reports@inbox.example'],
  ])('of %s is %s', (value, wanted) => {
    expect(toProposedRecord(value, ADDRESS)).toBe(wanted);
  });

  test('is none where the record of a domain above holds', () => {
    const inherited = {
      from: 'example.com',
      value: 'v=DMARC1; p=reject; rua=mailto:x@example.com',
    };
    const domain = { id: 'x', name: 'mail.example.com', address: ADDRESS };
    const { code, text } = describeStep(
      { kind: 'first_reports' },
      { ...domain, dns: { value: null, inherited } },
    );
    expect(code).toBeUndefined();
    expect(text).toContain('The DMARC record of example.com holds for mail.example.com');
  });
});

describe('the record above', () => {
  test('is that of the organisation: the highest, or the one that says so', () => {
    expect(toParents('a.b.example.com')).toEqual(['b.example.com', 'example.com']);
    const at = (from: string, value: string | null) => ({ from, value });
    const near = at('b.example.com', 'v=DMARC1; p=none');
    const top = at('example.com', 'v=DMARC1; p=reject');
    expect(findInherited([near, top])).toEqual(top);
    const own = at('b.example.com', 'v=DMARC1; p=none; psd=n');
    expect(findInherited([own, top])).toEqual(own);
    expect(findInherited([near, at('example.com', 'v=DMARC1; p=reject; psd=y')])).toEqual(near);
    expect(findInherited([at('b.example.com', null), at('example.com', null)])).toBeUndefined();
  });
});

/** Two checks, which confirm what they see. */
function see(state: DnsRecordState, day: number, found: Parameters<typeof toHeld>[0]) {
  const at = (minute: number) => `2026-03-${10 + day}T04:${minute}:00Z`;
  return [10, 40].reduce(
    (known, minute) =>
      addCheck(known, { type: 'dmarc', at: at(minute), ...found }, DEFAULT_THRESHOLDS),
    state,
  );
}

describe('a policy is weakened', () => {
  const strong = { from: 'example.com', value: 'v=DMARC1; p=reject' };
  const weak = { from: 'example.com', value: 'v=DMARC1; p=reject; sp=none' };

  test('not by removing a record of its own where a stronger one above holds', () => {
    const before = see(UNKNOWN_RECORD, 1, { value: 'v=DMARC1; p=none' });
    const after = see(before, 2, { value: null, inherited: strong });
    expect(after.weakening).toBeNull();
    expect(after.change).toMatchObject({ former: 'v=DMARC1; p=none', current: null });
  });

  test('by removing a record of its own where a weaker one above holds', () => {
    const before = see(UNKNOWN_RECORD, 1, { value: 'v=DMARC1; p=reject' });
    const after = see(before, 2, { value: null, inherited: weak });
    expect(after.weakening?.held).toEqual({ former: 'v=DMARC1; p=reject', current: 'p=none' });
    expect(see(after, 3, { value: 'v=DMARC1; p=reject' }).weakening).toBeNull();
  });

  test('by a change of the record above', () => {
    const before = see(UNKNOWN_RECORD, 1, { value: null, inherited: strong });
    const after = see(before, 2, { value: null, inherited: weak });
    expect(after.weakening).not.toBeNull();
    expect(see(after, 3, { value: null, inherited: strong }).weakening).toBeNull();
  });
});
