import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { domainOf } from '../../src/domain/reports/report.ts';
import { Budget } from '../../src/intake/budget.ts';
import { readDocuments } from '../../src/intake/containers/documents.ts';
import type { IntakeDocument } from '../../src/intake/intake-document.ts';
import { createParserProcess } from '../../src/intake/parser/parser-process.ts';
import { NOW, outcomes, PLAIN, readAll } from '../support/intake.ts';
import { base64, letter, mail, multipart, text } from '../support/mail.ts';
import { aPolicy, aTlsReport, STS } from '../support/tls-report.ts';
import { zip } from '../support/zip.ts';

const REPORT = aTlsReport();
const NOBODYS = aTlsReport({
  policies: [aPolicy({ policy: { ...STS, 'policy-domain': null } })],
});
const BROKEN = REPORT.slice(0, -3);
const NAME = 'reporter.example!example.org!1773100800!1773187199.json';

const tlsPart = (content: Uint8Array | string, name = 'report.json.gz') =>
  base64(content, [
    'Content-Type: application/tlsrpt+gzip',
    `Content-Disposition: attachment; filename="${name}"`,
  ]);
const jsonPart = (content: Uint8Array | string, name = 'data.json') =>
  base64(content, [
    'Content-Type: application/json',
    `Content-Disposition: attachment; filename="${name}"`,
  ]);
const body = (content: string) => multipart([text('Hi'), jsonPart(content)]);

const toDomain = (document: IntakeDocument | undefined) =>
  document?.kind === 'report' ? domainOf(document.report) : document?.refusal.reason;

const domainsOf = async (input: Uint8Array | string) => (await readAll(input)).map(toDomain);

describe('a TLS report is found by its content', () => {
  test.each([
    ['a file', REPORT],
    ['UTF-16', Buffer.from(`\uFEFF${REPORT}`, 'utf16le')],
    ['gzip in gzip', gzipSync(gzipSync(REPORT))],
    ['a zip', zip([{ name: 'x.bin', content: REPORT }])],
    ['a text in base64', Buffer.from(REPORT).toString('base64')],
    ['a part of a mail', mail(multipart([text('Hi'), tlsPart(gzipSync(REPORT))], 'report'))],
    ['a part with a false encoding', letter({ ...jsonPart(''), body: REPORT })],
    ['the text of a mail', letter(text(REPORT))],
    ['a list of reports', `[${REPORT}]`],
  ])('in %s', async (_what, input) => {
    expect(await domainsOf(input)).toEqual(['example.com']);
  });

  test('beside an aggregate report each is read as what it is', async () => {
    const both = multipart([base64(PLAIN), tlsPart(gzipSync(REPORT))]);
    expect(await outcomes(mail(both))).toEqual(['report 2026-0001', 'report one']);
  });
});

describe('without a domain in it, it is of the domain', () => {
  test('that its mail names', async () => {
    const sent = mail(tlsPart(gzipSync(NOBODYS), NAME)).toString('latin1');
    const named = `TLS-Report-Domain: example.com\r\n${sent}`;
    expect(await domainsOf(Buffer.from(named))).toEqual(['example.com']);
  });

  test('that the name of its part, of the archive around it, or of the file has', async () => {
    expect(await domainsOf(mail(tlsPart(gzipSync(NOBODYS), NAME)))).toEqual(['example.org']);
    const inside = zip([{ name: 'a.json', content: NOBODYS }]);
    expect(await domainsOf(mail(tlsPart(inside, NAME)))).toEqual(['example.org']);
    const bytes = Buffer.from(NOBODYS);
    const options = { nowMs: NOW, budget: new Budget(bytes.length), name: `/in/${NAME}` };
    const [document] = await Array.fromAsync(readDocuments(bytes, options));
    expect(toDomain(document)).toBe('example.org');
  });

  test('and else it is refused', async () => {
    expect(await outcomes(NOBODYS)).toEqual(['rejected missing_domain']);
  });
});

describe('broken JSON', () => {
  test.each([
    ['a file with two of the keys', BROKEN],
    ['a part with two of the keys', letter(body(BROKEN))],
    ['a part of the type of TLS reports', letter(multipart([tlsPart('{"a":1,}')]))],
    ['a part with the name of a report', letter(multipart([jsonPart('{"a":1,}', NAME)]))],
    ['a mail whose subject says that it is a report', mail(body('{"a":1,}'))],
  ])('is a broken report in %s', async (_what, input) => {
    const [document] = await readAll(input);
    expect(document).toMatchObject({
      kind: 'rejected',
      refusal: { reason: 'bad_json', where: expect.stringMatching(/^line 1, column \d+$/) },
    });
  });

  test.each([
    ['a file of JSON', '{"a":1,}'],
    ['a file that is nested deep', `{"a":${'['.repeat(70)}`],
    ['a part of a mail', letter(body('{"policies":[],}'))],
    ['the text of a mail', letter(text(BROKEN))],
  ])('is no report in %s', async (_what, input) => {
    expect(await outcomes(input)).toEqual(['rejected no_report']);
  });
});

/** What people send: 50 mails, of which each has a part that may look like a report. */
const PERSONAL = [
  '{}',
  '[]',
  '[1]',
  '{"policies":[]}',
  '{"policies":[{"policy":{"policy-type":"sts"}}]}',
  '{"report-id":"1","date-range":{}}',
  '{"contact-info":"me","organization-name":"we"}',
  '{"name":"app","version":"1.0.0","policies":{"retry":3}}',
  '[{"policies":[]},{"id":1}]',
  '{"data":{"organization-name":"x","policies":[],"report-id":"1"}}',
];

describe.each(PERSONAL)('a mail of a person with %s', (json) => {
  test.each([
    ['attached', letter(body(json))],
    ['in its text', letter(text(json))],
    ['quoted behind a greeting', letter(text(`Hello,\n\n${json}\n${REPORT}\n`))],
    ['quoted line by line', letter(text(`> ${json}\n> ${REPORT}`))],
    ['in a zip', letter(multipart([base64(zip([{ name: 'a.json', content: json }]))]))],
  ])('%s is no report', async (_where, input) => {
    const [document, ...others] = await readAll(input);
    expect(document).toMatchObject({
      kind: 'rejected',
      member: [],
      refusal: { reason: 'no_report' },
    });
    expect(others).toEqual([]);
  });
});

describe('hostile JSON, in the process that parses', () => {
  const MIB = 1024 * 1024;
  const parser = createParserProcess();
  const parse = async (bytes: Uint8Array) => {
    const found = await Array.fromAsync(parser.parse(bytes, { nowMs: NOW, isMailed: true }));
    return found.map((one) => (one.kind === 'report' ? 'report' : one.refusal.reason));
  };
  const start = REPORT.slice(0, -1);

  test.each([
    ['lists in lists', () => `${start},"x":${'['.repeat(5 * MIB)}`, ['too_large']],
    [
      'one name again and again',
      () => `${start}${',"x":1'.repeat(MIB)}}`,
      ['report', 'too_costly'],
    ],
    [
      'many names',
      () => `${start}${Array.from({ length: MIB / 2 }, (_, i) => `,"${i}":1`).join('')}}`,
      ['report', 'too_costly'],
    ],
    [
      'a text of slashes',
      () => `${start},"x":"${'\\'.repeat(20 * MIB)}"}`,
      ['report', 'too_costly'],
    ],
    ['a long number', () => `${start},"x":${'1'.repeat(20 * MIB)}}`, ['report', 'too_costly']],
    [
      'more than 64 MiB',
      () => `${start},"x":"${'x'.repeat(64 * MIB)}"}`,
      ['too_large', 'too_costly'],
    ],
  ])(
    '%s costs no more than an honest report',
    async (_what, make, reasons) => {
      const [reason, ...others] = await parse(gzipSync(make()));
      expect(reasons).toContain(reason);
      expect(others).toEqual([]);
    },
    120_000,
  );

  test('and the process goes on', async () => {
    expect(await parse(Buffer.from(PLAIN))).toEqual(['report']);
    await parser.close();
  });
});
