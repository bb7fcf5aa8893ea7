import { describe, expect, it, test } from 'vitest';
import { parseIpAddress } from '../../src/domain/ip-address.ts';
import { EMPTY_TALLY } from '../../src/domain/reports/alignment.ts';
import { Budget } from '../../src/intake/budget.ts';
import { toContent } from '../../src/intake/content.ts';
import { readFeedback } from '../../src/intake/report/feedback.ts';
import { WarningLog } from '../../src/intake/warnings.ts';
import { fixture, NOW, PLAIN, plainWith, read } from '../support/intake.ts';

const EVALUATED = /<policy_evaluated>.*?<\/policy_evaluated>/s.exec(PLAIN)?.[0] ?? '';
const IDENTIFIERS = /<identifiers>.*?<\/identifiers>/s.exec(PLAIN)?.[0] ?? '';
const AUTH_RESULTS = /<auth_results>.*?<\/auth_results>/s.exec(PLAIN)?.[0] ?? '';
const RECORDS = /<record>.*<\/record>/s.exec(PLAIN)?.[0] ?? '';

describe('records', () => {
  it('are passed on completely, in order', async () => {
    const { records } = await read(PLAIN);
    expect(records).toEqual([
      {
        sourceIp: '192.0.2.1',
        count: 7,
        policyEvaluated: { disposition: 'none', dkim: 'pass', spf: 'fail', reasons: [] },
        identifiers: { headerFrom: 'example.com', envelopeFrom: null, envelopeTo: null },
        authResults: {
          dkim: [{ domain: 'example.com', selector: 's1', result: 'pass', humanResult: null }],
          spf: [
            { domain: 'bounce.example.org', scope: 'mfrom', result: 'softfail', humanResult: null },
          ],
        },
      },
      {
        sourceIp: '2001:db8::25',
        count: 3,
        policyEvaluated: { disposition: 'quarantine', dkim: 'fail', spf: 'fail', reasons: [] },
        identifiers: { headerFrom: 'example.com', envelopeFrom: null, envelopeTo: null },
        authResults: { dkim: [], spf: [] },
      },
    ]);
  });

  it('are passed on before the rest is read', async () => {
    const broken = PLAIN.replace(/<\/record>\s*<\/feedback>/, '');
    const seen: unknown[] = [];
    const reading = readFeedback(toContent(Buffer.from(broken)), {
      log: new WarningLog(),
      nowMs: NOW,
      budget: new Budget(broken.length),
      onRecord: ({ sourceIp }) => seen.push(sourceIp),
    });
    await expect(reading).rejects.toMatchObject({ reason: 'bad_xml' });
    expect(seen).toEqual(['192.0.2.1']);
  });

  it('that are equal both count', async () => {
    const { report } = await read(fixture('zoho-identical-records.xml'));
    expect(report.tally).toMatchObject({ recordCount: 2, totalMessages: 14, alignedMessages: 14 });
  });

  it('are optional: a warning', async () => {
    const { report, warnings } = await read(plainWith(RECORDS, ''));
    expect(report.tally).toEqual(EMPTY_TALLY);
    expect(warnings).toEqual(['no_records']);
  });

  it('that are placeholders are dropped, with a warning', async () => {
    const { report, records, warnings } = await read(fixture('wp-placeholder-record.xml'));
    expect(report.tally.recordCount).toBe(0);
    expect(records).toEqual([]);
    expect(warnings).toEqual(['empty_record']);
  });

  it('give one warning for each code, with a count and the first place', async () => {
    const input = PLAIN.replaceAll(/<count>\d<\/count>/g, '<count>?</count>');
    const { report } = await read(input);
    expect(report.warnings).toEqual([
      { code: 'invalid_count', count: 2, where: 'line 26, column 13' },
    ]);
  });
});

describe('source_ip', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:DB8:0:0:0:0:0:25', '2001:db8::25'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['X.X.X.X', undefined],
    ['192.0.2', undefined],
    ['192.0.2.256', undefined],
    ['192.0.02.1', undefined],
    ['192.0.2.1:25', undefined],
    ['fe80::1%eth0', undefined],
    ['192.0.2.1/32', undefined],
  ])('%s is %s', (text, address) => {
    expect(parseIpAddress(text)).toBe(address);
  });

  test.each([
    ['missing', '', 'missing_source_ip'],
    ['blank', '<source_ip> </source_ip>', 'missing_source_ip'],
    ['no address', '<source_ip>X.X.X.X</source_ip>', 'invalid_source_ip'],
  ])('that is %s leaves the record and its messages', async (_, element, warning) => {
    const input = plainWith('<source_ip>192.0.2.1</source_ip>', element);
    const { report, records, warnings } = await read(input);
    expect(records[0]?.sourceIp).toBeNull();
    expect(report.tally).toEqual({
      ...{ recordCount: 2, totalMessages: 10, alignedMessages: 7 },
      ...{ dkimAligned: 7, spfAligned: 0, quarantined: 3, rejected: 0, otherwise: 0 },
    });
    expect(warnings).toEqual([warning]);
  });
});

describe('count', () => {
  test.each([
    ['0', 0, []],
    ['007', 7, []],
    ['999999999997', 999999999997, []],
    ['', 0, ['missing_count']],
    ['-1', 0, ['invalid_count']],
    ['1.5', 0, ['invalid_count']],
    ['1e9', 0, ['invalid_count']],
    ['1,000', 0, ['invalid_count']],
    ['many', 0, ['invalid_count']],
    ['-99999999999999999999', 0, ['invalid_count']],
  ])('"%s" is %i', async (sent, count, expected) => {
    const { records, warnings } = await read(plainWith('<count>7', `<count>${sent}`));
    expect(records[0]?.count).toBe(count);
    expect(warnings).toEqual(expected);
  });

  it('is 0 when it is missing', async () => {
    const { records, warnings } = await read(plainWith('<count>7</count>', ''));
    expect(records[0]?.count).toBe(0);
    expect(warnings).toEqual(['missing_count']);
  });

  test.each([
    ['one that is not an exact number', '9007199254740992', 'bad_field'],
    ['one of many digits', '9'.repeat(900), 'bad_field'],
    ['one over 10^12', '1000000000001', 'count_too_large'],
    ['a sum over 10^12', '999999999998', 'count_too_large'],
    ['one of 2^53 - 1', '9007199254740991', 'count_too_large'],
  ])('%s is rejected', async (_, count, reason) => {
    await expect(read(plainWith('<count>7', `<count>${count}`))).rejects.toMatchObject({
      reason,
      where: expect.stringMatching(/^line \d+, column \d+$/),
    });
  });
});

describe('policy_evaluated', () => {
  const NONE = { disposition: null, dkim: null, spf: null, reasons: [] };

  test.each([
    ['missing', EVALUATED, '', NONE, ['missing_policy_evaluated']],
    [
      'without dkim',
      '<dkim>pass</dkim>\n        <spf>',
      '<spf>',
      { dkim: null },
      ['missing_evaluated_result'],
    ],
    ['with dkim blank', '<dkim>pass<', '<dkim><', { dkim: null }, ['missing_evaluated_result']],
    [
      'with another word',
      '<dkim>pass<',
      '<dkim>none<',
      { dkim: 'none' },
      ['unknown_evaluated_result'],
    ],
    [
      'without disposition',
      '<disposition>none</disposition>',
      '',
      { disposition: null },
      ['missing_disposition'],
    ],
    [
      'with disposition blank',
      '<disposition>none<',
      '<disposition><',
      { disposition: null },
      ['missing_disposition'],
    ],
    [
      'with disposition unknown',
      '<disposition>none<',
      '<disposition>Sent<',
      { disposition: 'sent' },
      ['unknown_disposition'],
    ],
  ])('%s is a warning, and not aligned', async (_, from, to, evaluated, expected) => {
    const { report, records, warnings } = await read(plainWith(from, to));
    expect(records[0]?.policyEvaluated).toMatchObject(evaluated);
    const isAligned = records[0]?.policyEvaluated.dkim === 'pass';
    expect(report.tally.alignedMessages).toBe(isAligned ? 7 : 0);
    expect(warnings).toEqual(expected);
  });

  test.each([
    ['Pass', '<dkim>pass<', '<dkim> Pass <', { dkim: 'pass' }],
    ['None', '<disposition>none<', '<disposition>None<', { disposition: 'none' }],
    ['disposition pass', '<disposition>none<', '<disposition>pass<', { disposition: 'pass' }],
  ])('%s is accepted', async (_, from, to, evaluated) => {
    const { report, records, warnings } = await read(plainWith(from, to));
    expect(records[0]?.policyEvaluated).toMatchObject(evaluated);
    expect([report.tally.alignedMessages, warnings]).toEqual([7, []]);
  });

  it('may have many reasons, some without a type', async () => {
    const { records, warnings } = await read(fixture('gmx-rfc9990.xml'));
    expect(records[0]?.policyEvaluated.reasons).toEqual([
      { type: 'mailing_list', comment: 'list.example.org' },
      { type: null, comment: null },
    ]);
    expect(warnings).toEqual([]);
  });

  it('alone decides: a raw pass in auth_results is not alignment', async () => {
    const input = PLAIN.replace('<dkim>pass</dkim>', '<dkim>fail</dkim>');
    expect((await read(input)).report.tally.alignedMessages).toBe(0);
  });
});

describe('identifiers', () => {
  test.each([
    ['missing', IDENTIFIERS, '', null, ['missing_header_from']],
    [
      'without header_from',
      '<header_from>example.com</header_from>',
      '',
      null,
      ['missing_header_from'],
    ],
    [
      'with header_from blank',
      '<header_from>example.com<',
      '<header_from><',
      null,
      ['missing_header_from'],
    ],
    [
      'of another domain',
      '<header_from>example.com<',
      '<header_from>example.org<',
      'example.org',
      [],
    ],
  ])('%s', async (_, from, to, headerFrom, expected) => {
    const { records, warnings } = await read(plainWith(from, to));
    expect(records[0]?.identifiers.headerFrom).toBe(headerFrom);
    expect(warnings).toEqual(expected);
  });

  it('identifiers spelt “identities” are read with a warning', async () => {
    const { records, warnings } = await read(fixture('gcisdns-identities.xml'));
    expect(records[0]?.identifiers.headerFrom).toBe('example.com');
    expect(warnings).toEqual(['misspelt_identifiers']);
  });

  it('keep envelope addresses if present', async () => {
    const envelope = '<envelope_from/><envelope_to>example.net</envelope_to><header_from>';
    const { records } = await read(plainWith('<header_from>', envelope));
    expect(records[0]?.identifiers).toMatchObject({
      envelopeFrom: null,
      envelopeTo: 'example.net',
    });
  });
});

describe('auth_results', () => {
  test.each([
    ['missing', ''],
    ['empty', '<auth_results/>'],
    ['with SPF only', '<auth_results><spf><domain/></spf></auth_results>'],
    ['with two SPF results', '<auth_results><spf/><spf><scope>helo</scope></spf></auth_results>'],
    [
      'with DKIM without domain and selector',
      '<auth_results><dkim><domain/><result>none</result></dkim></auth_results>',
    ],
    ['with SPF before DKIM', '<auth_results><spf/><dkim/></auth_results>'],
  ])('%s are accepted', async (_, element) => {
    const { records, warnings } = await read(plainWith(AUTH_RESULTS, element));
    expect(records).toHaveLength(2);
    expect(warnings).toEqual([]);
  });

  test.each([
    ['HardFail', 'fail', []],
    ['unknown', 'temperror', []],
    ['error', 'permerror', []],
    ['SoftFail', 'softfail', []],
    ['constructor', 'constructor', ['unknown_auth_result']],
    ['Best Guess', 'best guess', ['unknown_auth_result']],
    ['', null, []],
  ])('the SPF result "%s" is %s', async (sent, result, expected) => {
    const { records, warnings } = await read(plainWith('>softfail<', `>${sent}<`));
    expect(records[0]?.authResults.spf[0]?.result).toBe(result);
    expect(warnings).toEqual(expected);
  });

  it('keep 1,000 of a kind and drop the rest, with a warning', async () => {
    const dkim = '<dkim><domain>example.com</domain><result>pass</result></dkim>';
    const input = plainWith(AUTH_RESULTS, `<auth_results>${dkim.repeat(1203)}</auth_results>`);
    const { report, records } = await read(input);
    expect(records[0]?.authResults.dkim).toHaveLength(1000);
    expect(report.warnings).toMatchObject([{ code: 'long_list', count: 203 }]);
  });

  it('keep unknown words, with a warning for each', async () => {
    const { records, warnings } = await read(fixture('mopgov-other-words.xml'));
    expect(records[0]).toMatchObject({
      policyEvaluated: { disposition: 'delivered', dkim: 'none' },
      authResults: { spf: [{ result: 'fail' }] },
    });
    expect(warnings).toEqual(['unknown_disposition', 'unknown_evaluated_result']);
  });
});

test('the type of an override reason that is its own text is read, with a warning', async () => {
  const { records, warnings } = await read(
    plainWith('<spf>fail</spf>', '<spf>fail</spf><reason>\n Sampled_Out </reason>'),
  );
  const reasons = [{ type: 'sampled_out', comment: null }];
  expect(records[0]?.policyEvaluated.reasons).toEqual(reasons);
  expect(warnings).toEqual(['reason_as_text']);
});
