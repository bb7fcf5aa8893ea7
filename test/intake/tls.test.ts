import { describe, expect, test } from 'vitest';
import { Refusal } from '../../src/domain/reports/refusal.ts';
import { findPolicies } from '../../src/domain/reports/tls-content.ts';
import { Budget } from '../../src/intake/budget.ts';
import { toContent } from '../../src/intake/content.ts';
import { readTls } from '../../src/intake/tls/read-tls.ts';
import { WarningLog } from '../../src/intake/warnings.ts';
import { NOW } from '../support/intake.ts';
import { aPolicy, aTlsReport, FAILURE, STS, SUMMARY } from '../support/tls-report.ts';

async function read(text: string, hint?: string) {
  const bytes = Buffer.from(text);
  const options = { log: new WarningLog(), nowMs: NOW, budget: new Budget(bytes.length), hint };
  const reports = await readTls(toContent(bytes), options);
  return reports.map((one) => ({ ...one, policies: findPolicies(one.content) ?? [] }));
}

async function readOne(text: string, hint?: string) {
  const [report, ...others] = await read(text, hint);
  if (report === undefined || others.length > 0) throw new Error('There is not one report.');
  return { ...report, codes: report.warnings.map(({ code }) => code).sort() };
}

const refusalOf = async (text: string) =>
  await read(text).then(
    () => undefined,
    (error) => (error instanceof Refusal ? error.reason : error),
  );

const ofPolicy = (changes: object) => aTlsReport({ policies: [aPolicy({ ...changes })] });
const ofPolicies = (...policies: object[]) => aTlsReport({ policies });
const ofDomain = (domain: unknown, type = 'sts') =>
  aPolicy({ policy: { ...STS, 'policy-type': type, 'policy-domain': domain } });
const ofRange = (start: unknown, end: unknown) =>
  aTlsReport({ 'date-range': { 'start-datetime': start, 'end-datetime': end } });

test('a usual report is read whole, without a warning', async () => {
  expect(await readOne(aTlsReport())).toMatchObject({
    domain: 'example.com',
    metadata: {
      orgName: 'Example',
      email: 'tls@reporter.example',
      reportId: 'one',
      begin: Date.UTC(2026, 2, 10) / 1000,
      end: Date.UTC(2026, 2, 11) / 1000 - 1,
    },
    policies: [
      {
        type: 'sts',
        domain: 'example.com',
        mode: 'testing',
        mxHosts: ['mx.example.com'],
        successes: 12,
        failures: 1,
        details: [{ resultType: 'certificate-expired', sessions: 1, sendingIp: null }],
      },
    ],
    codes: [],
  });
});

describe('what the members are called and how they are written', () => {
  test.each([
    ['a null for the contact', { 'contact-info': null }, ['missing_email']],
    ['no contact that is an address', { 'contact-info': 'us' }, ['invalid_email']],
    ['no organisation', { 'organization-name': ' ' }, ['missing_org_name']],
    ['no id', { 'report-id': '<>' }, ['missing_report_id']],
    ['no policy', { policies: [] }, ['no_policies']],
    ['a null for the policies', { policies: null }, ['no_policies']],
    ['one policy that is no list', { policies: aPolicy() }, ['not_a_list']],
    ['a policy that is a text', { policies: [aPolicy(), 'x'] }, ['unreadable_entry']],
    [
      'a flat policy',
      { policies: [{ ...STS, summary: SUMMARY }] },
      ['failures_without_details', 'flat_policy'],
    ],
    ['unknown members', { other: [{}], __proto__: 1 }, []],
  ])('%s', async (_what, changes, codes) => {
    expect((await readOne(aTlsReport(changes), 'example.com')).codes).toEqual(codes);
  });

  test.each([
    ['no type', { 'policy-type': null }, { type: null }, ['missing_policy_type']],
    [
      'another type',
      { 'policy-type': 'dane-x' },
      { type: 'dane-x', mode: null },
      ['unknown_policy_type'],
    ],
    ['a type in capitals', { 'policy-type': 'STS' }, { type: 'sts' }, []],
    [
      'one text of lines',
      { 'policy-string': 'version: STSv1\r\nmode:enforce' },
      { mode: 'enforce' },
      [],
    ],
    ['no policy in it', { 'policy-string': [] }, { mode: null }, []],
    [
      'one host',
      { 'mx-host': undefined, 'mx-host-pattern': 'MX.example.com' },
      { mxHosts: ['mx.example.com'] },
      [],
    ],
  ])('a policy with %s', async (_what, changes, policy, codes) => {
    const report = await readOne(ofPolicy({ policy: { ...STS, ...changes } }));
    expect(report).toMatchObject({ policies: [policy], codes });
  });

  test('a number as id is its digits, and a pair of brackets is not part of it', async () => {
    const digits = aTlsReport().replace('"one"', '133198585438131172001');
    expect((await readOne(digits)).metadata.reportId).toBe('133198585438131172001');
    const bracketed = aTlsReport({ 'report-id': '<a@b>' });
    expect((await readOne(bracketed)).metadata.reportId).toBe('a@b');
    expect(await refusalOf(aTlsReport({ 'report-id': 'x'.repeat(513) }))).toBe('bad_field');
  });

  test('a contact may be a mailto, and characters that no text has are replaced', async () => {
    const report = await readOne(
      aTlsReport({ 'contact-info': 'mailto:a@b.example', 'organization-name': 'A\u0000\ud800B' }),
    );
    expect(report.metadata).toMatchObject({ email: 'a@b.example', orgName: 'A\uFFFD\uFFFDB' });
    expect(report.codes).toEqual(['forbidden_characters']);
  });
});

describe('dates', () => {
  const DAY = [Date.UTC(2026, 2, 10) / 1000, Date.UTC(2026, 2, 11) / 1000 - 1];

  test.each([
    ['no zone', '2026-03-10T00:00:00', '2026-03-10T23:59:59', ['date_without_zone']],
    ['days alone', '2026-03-10', '2026-03-10', ['date_only']],
    ['numbers', DAY[0], `${DAY[1]}`, ['numeric_date']],
    ['offsets and fractions', '2026-03-10t01:00:00.5+0100', '2026-03-10 18:59:59.999-05:00', []],
    ['a leap second', '2026-03-10T00:00:00z', '2026-03-10T23:59:60Z', []],
  ])('with %s', async (_what, start, end, codes) => {
    const { metadata, codes: met } = await readOne(ofRange(start, end));
    expect([[metadata.begin, metadata.end], met]).toEqual([DAY, codes]);
  });

  test.each([
    ['2026-02-31T00:00:00Z', 'missing_dates'],
    ['1960-01-01', 'missing_dates'],
    ['soon', 'missing_dates'],
    [null, 'missing_dates'],
    ['2199-01-01', 'window_in_future'],
  ])('%s is refused', async (start, reason) => {
    expect(await refusalOf(ofRange(start, '2026-03-10T23:59:59Z'))).toBe(reason);
  });

  test('windows that are odd are kept with a warning, as those of DMARC', async () => {
    const odd = await readOne(ofRange('2011-03-12T00:00:00Z', '2011-03-10T00:00:00Z'));
    expect(odd.codes).toEqual(['early_begin', 'reversed_dates']);
    const long = await readOne(ofRange('2026-03-10T00:00:00Z', '2026-03-12T00:00:00Z'));
    expect(long.codes).toEqual(['long_window']);
  });
});

describe('counts', () => {
  const sums = { successes: 12, failures: 1 };
  const counted = (successes: unknown, failures: unknown) => ({
    'total-successful-session-count': successes,
    'total-failure-session-count': failures,
  });
  const failures = (...counts: unknown[]) =>
    counts.map((count) => ({ ...FAILURE, 'failed-session-count': count }));

  test.each([
    ['as texts', { summary: counted('12', ' 1 ') }, sums, []],
    [
      'none of successes',
      { summary: counted(undefined, 1) },
      { ...sums, successes: 0 },
      ['missing_count'],
    ],
    ['negative', { summary: counted(-1, 1) }, { ...sums, successes: 0 }, ['invalid_count']],
    ['a fraction', { summary: counted(1.5, 1) }, { ...sums, successes: 0 }, ['invalid_count']],
    [
      'a word of failures',
      { summary: counted(12, 'x'), 'failure-details': failures(2, 3) },
      { ...sums, failures: 5 },
      ['invalid_count'],
    ],
    [
      'no summary',
      { summary: null, 'failure-details': failures(2, 3) },
      { successes: 0, failures: 5 },
      ['missing_summary'],
    ],
    [
      'no details',
      { summary: counted(12, 4), 'failure-details': null },
      { ...sums, failures: 4 },
      ['failures_without_details'],
    ],
    [
      'details, and a summary of none',
      { summary: counted(12, 0), 'failure-details': failures(3) },
      { ...sums, failures: 3 },
      ['counts_differ'],
    ],
    ['details above the summary', { 'failure-details': failures(1, 1) }, sums, []],
    ['details below the summary', { summary: counted(12, 9) }, { ...sums, failures: 9 }, []],
  ])('%s', async (_what, changes, policy, codes) => {
    expect(await readOne(ofPolicy(changes))).toMatchObject({ policies: [policy], codes });
  });

  test('a failure without a count has those of the summary if it is alone, and else one', async () => {
    const sessions = async (...counts: unknown[]) => {
      const text = ofPolicy({ summary: counted(0, 7), 'failure-details': failures(...counts) });
      const [policy] = (await readOne(text)).policies;
      return policy?.details.map((one) => one.sessions);
    };
    expect(await sessions(null)).toEqual([7]);
    expect(await sessions('x', 4)).toEqual([1, 4]);
  });

  test('what no number can be is refused, and more sessions than there can be', async () => {
    expect(await refusalOf(ofPolicy({ summary: counted(2 ** 54, 0) }))).toBe('bad_field');
    expect(await refusalOf(ofPolicy({ summary: counted('9'.repeat(20), 0) }))).toBe('bad_field');
    expect(await refusalOf(ofPolicy({ summary: counted(1e12, 1) }))).toBe('count_too_large');
    expect(await refusalOf(ofPolicy({ 'failure-details': failures(1e12, 1) }))).toBe(
      'count_too_large',
    );
  });

  test('of many failures the largest are kept, and the sums are of all', async () => {
    const counts = Array.from({ length: 10_001 }, (_, i) => i + 1);
    const details = failures(...counts);
    const report = await readOne(ofPolicy({ summary: null, 'failure-details': details }));
    expect(report.codes).toEqual(['missing_summary', 'records_cut']);
    expect(report.policies).toMatchObject([{ failures: (10_001 * 10_002) / 2 }]);
    const kept = report.policies.flatMap((one) => one.details.map(({ sessions }) => sessions));
    expect([kept.length, Math.min(...kept)]).toEqual([10_000, 2]);
  });
});

describe('failures', () => {
  test.each([
    [{ 'result-type': 'CERTIFICATE_EXPIRED' }, { resultType: 'certificate-expired' }, []],
    [{ 'result-type': 'mx-mismatch' }, { resultType: 'mx-mismatch' }, ['unknown_result_type']],
    [{ 'result-type': '' }, { resultType: 'unknown' }, ['missing_result_type']],
    [{ 'sending-mta-ip': '[IPv6:2001:DB8::1]' }, { sendingIp: '2001:db8::1' }, []],
    [{ 'receiving-ip': ' ' }, { receivingIp: null }, []],
    [{ 'receiving-ip': '192.0.2.256' }, { receivingIp: null }, ['invalid_ip']],
    [{ 'additional-information': { a: [1] } }, { information: '{"a":[1]}' }, []],
    [{ 'failure-reason-code': 550 }, { reasonCode: '550' }, []],
    [{ 'receiving-mx-hostname': 'MX.example.com' }, { mxHost: 'mx.example.com' }, []],
  ])('%j', async (changes, failure, codes) => {
    const report = await readOne(ofPolicy({ 'failure-details': { ...FAILURE, ...changes } }));
    expect(report.policies).toMatchObject([{ details: [failure] }]);
    expect(report.codes).toEqual([...codes, 'not_a_list'].sort());
  });
});

describe('whose it is', () => {
  const owners = async (text: string, hint?: string) =>
    (await read(text, hint)).map(({ domain, policies, warnings }) => [
      domain,
      policies.map((one) => one.domain),
      warnings.map(({ code }) => code),
    ]);
  const dane = (domain: unknown) => ofDomain(domain, 'tlsa');

  test('of the domains of policies that are not DANE, a report for each', async () => {
    const text = ofPolicies(
      ofDomain('A.example.'),
      ofDomain('bücher.example'),
      dane('mx.example.net'),
    );
    expect(await owners(text)).toEqual([
      ['a.example', ['a.example', 'mx.example.net'], []],
      ['xn--bcher-kva.example', ['xn--bcher-kva.example'], []],
    ]);
    expect(await owners(text, 'xn--bcher-kva.example')).toEqual([
      ['a.example', ['a.example'], []],
      ['xn--bcher-kva.example', ['xn--bcher-kva.example', 'mx.example.net'], []],
    ]);
  });

  test('of the hint when there is none, and else of the domains of DANE', async () => {
    const text = ofPolicies(dane('mx.example.net'), dane('mx.example.org'));
    expect(await owners(text, 'example.com')).toEqual([
      ['example.com', ['mx.example.net', 'mx.example.org'], []],
    ]);
    expect(await owners(text)).toEqual([
      ['mx.example.net', ['mx.example.net'], []],
      ['mx.example.org', ['mx.example.org'], []],
    ]);
  });

  test('of what the report says, where the hint differs', async () => {
    expect(await owners(aTlsReport(), 'other.example')).toEqual([
      ['example.com', ['example.com'], ['domain_differs']],
    ]);
  });

  test('a policy without a domain goes to the first report, and nobody’s is refused', async () => {
    expect(await owners(ofPolicies(ofDomain(null), ofDomain('example.com')))).toEqual([
      ['example.com', [null, 'example.com'], ['missing_policy_domain']],
    ]);
    expect(await refusalOf(ofPolicies(ofDomain(null)))).toBe('missing_domain');
    expect(await refusalOf(ofPolicies())).toBe('missing_domain');
  });
});

describe('the text', () => {
  test('a list of reports has several', async () => {
    expect(await read(`[${aTlsReport()},${aTlsReport({ 'report-id': 'two' })}]`)).toHaveLength(2);
  });

  test('marks before it and text behind it are no fault, and another object is', async () => {
    expect((await readOne(`\uFEFF ${aTlsReport()}\r\n`)).codes).toEqual([]);
    expect((await readOne(`${aTlsReport()}\0\0sent by us`)).codes).toEqual(['text_after_report']);
    expect(await refusalOf(`${aTlsReport()}\n${aTlsReport()}`)).toBe('bad_json');
  });

  test.each([
    ['a comma too many', '{"a":[1],}', 'line 1, column 9'],
    ['a cut text', '{"a":1,\n"b":"x', 'line 2, column 4'],
    ['a line in a text', '{"a":"x\ny"}', 'line 1, column 5'],
    ['a wrong escape', '{"a":"\\x"}', 'line 1, column 5'],
    ['a word of Python', '{"a":None}', 'line 1, column 5'],
    ['a zero before', '{"a":01}', 'line 1, column 6'],
    ['no end', '{"a":1', 'line 1, column 6'],
  ])('%s is broken JSON, at its place', async (_what, text, where) => {
    await expect(read(text)).rejects.toMatchObject({ reason: 'bad_json', where });
  });

  test('of a name that occurs twice the last counts, as for JSON.parse', async () => {
    const text = aTlsReport().replace('{', '{"report-id":"first",');
    expect((await readOne(text)).metadata.reportId).toBe('one');
  });

  test('what is nested too deep is refused, and 64 deep is read', async () => {
    const nested = (depth: number) =>
      aTlsReport().replace('{', () => `{"x":${'['.repeat(depth)}${']'.repeat(depth)},`);
    expect(await refusalOf(nested(64))).toBeUndefined();
    expect(await refusalOf(nested(65))).toBe('too_large');
  });

  test('numbers are those of JSON.parse, and escapes too', async () => {
    const summary = '{"total-successful-session-count":1.2e1,"total-failure-session-count":1}';
    const text = aTlsReport()
      .replace(JSON.stringify(SUMMARY), () => summary)
      .replace('"Example"', () => '"\\u0045x\\"\\\\"');
    const report = await readOne(text);
    expect(report.policies).toMatchObject([{ successes: 12 }]);
    expect(report.metadata.orgName).toBe('Ex"\\');
  });
});
