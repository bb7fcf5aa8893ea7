import { describe, expect, it, test } from 'vitest';
import { fixture, PLAIN, plainWith, read } from '../support/intake.ts';

const BEGIN = '<begin>1767225600</begin>';
const END = '<end>1767311999</end>';
const DATES = /<date_range>.*<\/date_range>/s.exec(PLAIN)?.[0] ?? '';

const dates = (begin: string, end: string): string =>
  plainWith(BEGIN, `<begin>${begin}</begin>`).replace(END, `<end>${end}</end>`);

describe('a report', () => {
  it('is read completely', async () => {
    const { report } = await read(fixture('example-plain.xml'));
    expect(report).toEqual({
      xmlNamespace: null,
      version: '1.0',
      metadata: {
        orgName: 'Example Mail',
        email: 'dmarc@example.net',
        extraContactInfo: 'https://example.net/dmarc',
        reportId: '2026-0001',
        begin: 1767225600,
        end: 1767311999,
        errors: [],
        generator: null,
      },
      policyPublished: {
        domain: 'example.com',
        p: 'quarantine',
        sp: 'none',
        np: null,
        adkim: 'r',
        aspf: 's',
        pct: 50,
        fo: '1:d',
        testing: null,
        discoveryMethod: null,
      },
      tally: {
        ...{ recordCount: 2, totalMessages: 10 },
        ...{ alignedMessages: 7, dkimAligned: 7, spfAligned: 0 },
        ...{ quarantined: 3, rejected: 0, otherwise: 0 },
      },
      warnings: [],
      content: expect.any(Uint8Array),
      payloadSha256: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
  });

  it('of RFC 9990 is read completely, including texts with a language', async () => {
    const { report, warnings } = await read(fixture('gmx-rfc9990.xml'));
    expect(report.metadata).toMatchObject({
      extraContactInfo: 'https://example.net/dmarc',
      errors: ['DNS timed out', 'Again'],
      generator: 'Example Reporter 2',
    });
    expect(report.policyPublished).toMatchObject({
      np: 'reject',
      pct: null,
      testing: 'n',
      discoveryMethod: 'treewalk',
    });
    expect(warnings).toEqual([]);
  });
});

describe('report_metadata', () => {
  test.each([
    [
      'org_name blank',
      '<org_name>Example Mail<',
      '<org_name> <',
      'missing_org_name',
      { orgName: null },
    ],
    ['email blank', '<email>dmarc@example.net<', '<email><', 'missing_email', { email: null }],
    [
      'email not an address',
      'dmarc@example.net',
      'see below',
      'invalid_email',
      { email: 'see below' },
    ],
    ['report_id blank', '>2026-0001<', '>\n<', 'missing_report_id', { reportId: null }],
    [
      'report_id missing',
      '<report_id>2026-0001</report_id>',
      '',
      'missing_report_id',
      { reportId: null },
    ],
    [
      'a repeated element',
      '<org_name>',
      '<org_name>First</org_name><org_name>',
      'repeated_element',
      { orgName: 'First' },
    ],
    [
      'a value without an end',
      'Example Mail',
      'x'.repeat(5000),
      'long_value',
      { orgName: 'x'.repeat(1000) },
    ],
  ])('%s is a warning', async (_, from, to, warning, metadata) => {
    const { report, warnings } = await read(plainWith(from, to));
    expect(report.metadata).toMatchObject(metadata);
    expect(warnings).toEqual([warning]);
  });

  test.each([
    '184467440737095516150123456789',
    '1733584937.162096754',
    'a!b!c!d/e f$g=h@i',
    '<5edbe461@example.net>',
    'f'.repeat(512),
  ])('the id %s is kept as text', async (id) => {
    const { report, warnings } = await read(plainWith('2026-0001', id.replace('<', '&lt;')));
    expect(report.metadata.reportId).toBe(id);
    expect(warnings).toEqual([]);
  });

  it('rejects an id of more than 512 characters, with its place', async () => {
    await expect(read(plainWith('2026-0001', 'f'.repeat(513)))).rejects.toMatchObject({
      reason: 'bad_field',
      where: 'line 8, column 15',
    });
  });
});

describe('date_range', () => {
  test.each([
    ['fractions are cut', fixture('netease-fractional-seconds.xml'), [1767225600, 1767311999], []],
    ['begin = end is accepted', dates('1767225600', '1767225600'), [1767225600, 1767225600], []],
    ['24 hours are accepted', dates('1767225600', '1767312000'), [1767225600, 1767312000], []],
    ['begin need not be midnight', dates('1767230000', '1767231000'), [1767230000, 1767231000], []],
    [
      'data_range is read',
      fixture('kddi-data-range.xml'),
      [1767225600, 1767311999],
      ['misspelt_date_range'],
    ],
    [
      'milliseconds are divided',
      dates('1767225600000', '1767311999999'),
      [1767225600, 1767311999],
      ['millisecond_dates'],
    ],
    [
      'reversed dates are kept',
      dates('1767311999', '1767225600'),
      [1767311999, 1767225600],
      ['reversed_dates'],
    ],
    ['27 hours', dates('1767225600', '1767322800'), [1767225600, 1767322800], ['long_window']],
    [
      '27 hours but a second, as the day on which clocks go back and a little more',
      dates('1767225600', '1767322799'),
      [1767225600, 1767322799],
      [],
    ],
    ['before 2012', dates('1325375999', '1325375999'), [1325375999, 1325375999], ['early_begin']],
    ['1970', dates('0', '1'), [0, 1], ['early_begin']],
    ['the future', dates('1785542401', '1785542402'), [1785542401, 1785542402], ['future_begin']],
  ])('%s', async (_, source, [begin, end], expected) => {
    const { report, warnings } = await read(source);
    expect(report.metadata).toMatchObject({ begin, end });
    expect(warnings).toEqual(expected);
  });

  test.each([
    ['no date_range', plainWith(DATES, '')],
    ['no report_metadata', PLAIN.replace(/<report_metadata>.*<\/report_metadata>/s, '')],
    ['no begin', plainWith(BEGIN, '')],
    ['no end', plainWith(END, '')],
    ['begin blank', dates(' ', '1767311999')],
    ['begin is a word', dates('yesterday', '1767311999')],
    ['begin negative', dates('-1', '1767311999')],
    ['begin in hexadecimal', dates('0x10', '1767311999')],
    ['begin with an exponent', dates('1.7e9', '1767311999')],
    ['end in microseconds', dates('1767225600', '1767311999000000')],
    ['neither dates nor a domain', plainWith(DATES, '').replace('<domain>example.com', '<domain>')],
  ])('%s is rejected, and no value is guessed', async (_, source) => {
    await expect(read(source)).rejects.toMatchObject({ reason: 'missing_dates' });
  });
});

describe('policy_published', () => {
  test.each([
    ['EXAMPLE.Com', 'example.com'],
    ['example.com.', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['XN--BCHER-KVA.example', 'xn--bcher-kva.example'],
  ])('the domain %s is %s', async (sent, domain) => {
    const { report, warnings } = await read(plainWith('<domain>example.com', `<domain>${sent}`));
    expect(report.policyPublished.domain).toBe(domain);
    expect(warnings).toEqual([]);
  });

  it('the domain of a public suffix is read with a warning', async () => {
    const sent = plainWith('<domain>example.com', '<domain>Bank');
    const { report, warnings } = await read(sent);
    expect(report.policyPublished.domain).toBe('bank');
    expect(warnings).toEqual(['public_suffix_policy']);
  });

  test.each([
    ['missing', '', 'missing_domain'],
    ['blank', '<domain>  </domain>', 'missing_domain'],
    ['not a domain name', '<domain>not a domain</domain>', 'bad_field'],
    ['a number', '<domain>1</domain>', 'bad_field'],
  ])('a domain that is %s is rejected', async (_, domain, reason) => {
    const source = PLAIN.replace('<domain>example.com</domain>', domain);
    await expect(read(source)).rejects.toMatchObject({ reason });
  });

  it('missing or blank values are null', async () => {
    const policy = '<policy_published><domain>example.com</domain><sp></sp></policy_published>';
    const source = PLAIN.replace(/<policy_published>.*<\/policy_published>/s, policy);
    const { report, warnings } = await read(source);
    const { domain, ...words } = report.policyPublished;
    expect(new Set(Object.values(words))).toEqual(new Set([null]));
    expect([domain, warnings]).toEqual(['example.com', []]);
  });

  test.each([
    ['Reject', { p: 'reject' }, []],
    ['Monitor', { p: 'Monitor' }, ['unknown_policy_word']],
  ])('the policy %s is %o', async (word, policy, expected) => {
    const { report, warnings } = await read(plainWith('<p>quarantine', `<p>${word}`));
    expect(report.policyPublished).toMatchObject(policy);
    expect(warnings).toEqual(expected);
  });

  test.each([
    ['0', 0, []],
    ['100', 100, []],
    ['101', 101, ['invalid_pct']],
    ['-1', null, ['invalid_pct']],
    ['half', null, ['invalid_pct']],
  ])('pct %s is %o', async (sent, pct, expected) => {
    const { report, warnings } = await read(plainWith('<pct>50', `<pct>${sent}`));
    expect(report.policyPublished.pct).toBe(pct);
    expect(warnings).toEqual(expected);
  });
});
