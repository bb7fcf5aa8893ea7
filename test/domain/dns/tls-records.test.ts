import { describe, expect, test } from 'vitest';
import { checkStsPolicy } from '../../../src/domain/dns/sts-policy.ts';
import { checkStsRecord, checkTlsRecord } from '../../../src/domain/dns/tls-records.ts';

const OURS = 'reports@reports.example.net';

describe('the record of TLS reports', () => {
  test.each<[string[], string[]]>([
    [[`v=TLSRPTv1; rua=mailto:${OURS}`], []],
    [[`v=TLSRPTv1;rua=https://r.example.org/v1 , mailto:${OURS.toUpperCase()};`], []],
    [[`v=TLSRPTv1; rua=mailto:reports%40reports.example.net`], ['bad_rua']],
    [[`v=TLSRPTv1; rua=mailto:${OURS}?subject=tls`], []],
    [['site-verification=1', `v=TLSRPTv1; rua=mailto:${OURS}; ext=1`], []],
    [[], ['missing']],
    [['site-verification=1'], ['missing']],
    [[`v=TLSRPTv1; rua=mailto:${OURS}`, 'v=TLSRPTv1; rua=mailto:a@example.org'], ['several']],
    [[`v=TLSRPTv2; rua=mailto:${OURS}`], ['bad_version']],
    [[`V=TLSRPTv1; rua=mailto:${OURS}`], ['bad_version']],
    [['v=TLSRPTv1; rua=https://r.example.org/v1'], ['not_to_us']],
    [['v=TLSRPTv1; rua='], ['no_rua']],
    [['v=TLSRPTv1;'], ['no_rua']],
    [[`v=TLSRPTv1; rua=mailto:${OURS},http://r.example.org/`], ['bad_rua']],
    [[`v=TLSRPTv1; rua=${OURS}`], ['bad_rua']],
  ])('%j: %j', (texts, findings) => {
    expect(checkTlsRecord(texts, [OURS])).toEqual(findings);
  });

  test('at the name that drafts had is seen only where there is no other', () => {
    const old = [`v=TLSRPTv1; rua=mailto:${OURS}`];
    expect(checkTlsRecord([], [OURS], old)).toEqual(['old_name']);
    expect(checkTlsRecord(old, [OURS], old)).toEqual([]);
  });
});

test.each<[string[], string[] | 'missing']>([
  [['v=STSv1; id=20261101T0800Z;'], []],
  [['v=spf1 -all', 'v=STSv1;id=a'], []],
  [[], 'missing'],
  [['v=STSv2; id=1'], 'missing'],
  [['v=STSv1; id=1', 'v=STSv1; id=1'], ['several']],
  [['v=STSv1; id=2026_11'], ['bad_id']],
  [['v=STSv1;'], ['bad_id']],
  [[`v=STSv1; id=${'1'.repeat(32)}`], []],
  [[`v=STSv1; id=${'1'.repeat(33)}`], ['bad_id']],
])('the record of MTA-STS %j: %j', (texts, findings) => {
  expect(checkStsRecord(texts)).toEqual(findings);
});

const aFile = (more: readonly string[] = ['mx: mx.example.org', 'max_age: 604800']) =>
  ['version: STSv1', 'mode: enforce', ...more, ''].join('\n');

describe('a policy file', () => {
  test.each<[string, string, string[], string[]]>([
    ['with LF', aFile(), ['mx.example.org'], []],
    ['with CRLF', aFile().replaceAll('\n', '\r\n'), ['MX.example.org.'], []],
    ['without an end of the last line', aFile().trimEnd(), ['mx.example.org'], []],
    ['with blanks', aFile(['mx:mx.example.org  ', 'max_age:\t604800']), ['mx.example.org'], []],
    ['with a field of another', aFile(['x-note: a', 'mx: a.example', 'max_age: 86400']), [], []],
    ['with a field twice', `${aFile()}mode: none\n`, ['b.example'], ['mx_not_covered']],
    ['of a wildcard', aFile(['mx: *.example.org', 'max_age: 604800']), ['a.example.org'], []],
    ...['a.b.example.org', 'example.org', 'aexample.org'].map(
      (host): [string, string, string[], string[]] => [
        `of a wildcard that does not cover ${host}`,
        aFile(['mx: *.example.org', 'max_age: 604800']),
        [host],
        ['mx_not_covered'],
      ],
    ),
    ['of which one MX is covered', aFile(), ['mx.example.org', 'b.example'], ['mx_not_covered']],
    ['for under a day', aFile(['mx: a.example', 'max_age: 86399']), [], ['short_max_age']],
    ['for a year', aFile(['mx: a.example', 'max_age: 31557600']), [], []],
    ['for over a year', aFile(['mx: a.example', 'max_age: 31557601']), [], ['invalid']],
    ['without max_age', aFile(['mx: a.example']), [], ['invalid']],
    ['with a fraction', aFile(['mx: a.example', 'max_age: 1.5']), [], ['invalid']],
    ['without mx', aFile(['max_age: 604800']), [], ['invalid']],
    ['with an address for mx', aFile(['mx: a@b.example', 'max_age: 604800']), [], ['invalid']],
    ['of another version', aFile().replace('STSv1', 'STSv2'), [], ['invalid']],
    ['of another mode', aFile().replace('enforce', 'strict'), [], ['invalid']],
    ['that is a page', '<!doctype html>\n<title>404</title>', [], ['invalid']],
    ['that is empty', '', [], ['invalid']],
    ['that is withdrawn', 'version: STSv1\nmode: none\nmax_age: 60', ['a.example'], []],
  ])('%s', (_, file, exchangers, findings) => {
    expect(checkStsPolicy(file, exchangers)).toEqual(findings);
  });

  test('covers what nobody answered for', () => {
    expect(checkStsPolicy(aFile(), undefined)).toEqual([]);
  });

  test('of hostile size is read in time that grows with its size', () => {
    const file = `version: STSv1\nmx: ${'a-'.repeat(16_000)}!\nmx:${' '.repeat(30_000)}x`;
    expect(checkStsPolicy(file, ['mx.example.org'])).toEqual(['invalid']);
  });
});
