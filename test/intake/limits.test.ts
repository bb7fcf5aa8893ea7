import { createGzip, gzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { MAX_DOCUMENT_BYTES, MAX_MAIL_BYTES } from '../../src/intake/limits.ts';
import { outcomes, PLAIN, plainWith, read, readAll } from '../support/intake.ts';
import { base64, mail, multipart, text } from '../support/mail.ts';
import { zip } from '../support/zip.ts';

const MIB = 1024 * 1024;
const REPORT = 'report 2026-0001';
const [RECORDS = ''] = /<record>.*<\/record>/s.exec(PLAIN) ?? [];

/** The size of a bomb that was sent in practice. */
const BOMB_MIB = 101;

/** A gzip of one mebibyte repeated, behind a beginning. */
async function bomb(start: string, filling: string): Promise<Buffer> {
  const gzip = createGzip();
  const packed = gzip.toArray();
  const mebibyte = filling.repeat(MIB / filling.length);
  gzip.write(start);
  for (let written = 0; written < BOMB_MIB; written += 1) gzip.write(mebibyte);
  gzip.end();
  return Buffer.concat(await packed);
}

/** The peak memory of a reading above the memory before it, in bytes. */
async function peakOf(reading: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().rss;
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 2);
  await reading();
  clearInterval(timer);
  return Math.max(peak, process.memoryUsage().rss) - before;
}

describe('a decompression bomb is too_large, and memory stays low', () => {
  test.each([
    ['of <', '', '<'],
    ['of one endless text', '<feedback><report_metadata><org_name>', 'aaaa'],
    ['of one endless comment', '<feedback><!--', 'aaaa'],
    ['of one endless attribute', '<feedback a="', 'aaaa'],
    ['of blanks before a report', '<!-- -->', '    '],
    ['of nested elements', '<feedback>', '<a>     '],
    ['of blanks', PLAIN.replace('</feedback>', ''), '    '],
    ['of elements in a record', '<feedback><record>', '<a/>'],
    ['of ampersands', '<feedback>', '&&&&'],
    ['of junk after a report', PLAIN, '<<<<'],
  ])(
    '%s',
    async (_, start, filling) => {
      const input = await bomb(start, filling);
      expect(input.length).toBeLessThan(MIB);
      const peak = await peakOf(async () => {
        expect(await outcomes(input)).toEqual(['rejected too_large']);
      });
      expect(peak).toBeLessThan(160 * MIB);
    },
    20_000,
  );

  it('in a zip, in a mail', async () => {
    const bytes = Buffer.alloc(BOMB_MIB * MIB, '<');
    const input = mail(base64(zip([{ name: 'bomb.xml', content: bytes }])));
    expect(await outcomes(input)).toEqual(['rejected too_large']);
  });

  it('does not prevent reading the documents beside it', async () => {
    const bytes = Buffer.alloc(BOMB_MIB * MIB, '<');
    const members = [
      { name: 'bomb.xml', content: bytes },
      { name: 'r.xml', content: PLAIN },
    ];
    expect(await outcomes(zip(members))).toEqual(['rejected too_large', REPORT]);
  });

  it('of many documents ends the reading of the input', async () => {
    const large = `${PLAIN}${' '.repeat(50 * MIB)}`;
    const names = ['1', '2', '3', '4', '5', '6', '7', '8'];
    const input = zip(names.map((name) => ({ name, content: large })));
    expect(await outcomes(input)).toEqual([...Array(5).fill(REPORT), 'rejected too_large']);
  });

  it('that is not XML is recognised by its first bytes', async () => {
    expect(await outcomes(await bomb('', 'aaaa'))).toEqual(['rejected no_report']);
  });
});

describe('ceilings', () => {
  it('unpacked XML has the same limit as packed XML', async () => {
    const padded = (bytes: number): Buffer =>
      Buffer.concat([Buffer.from(PLAIN), Buffer.alloc(bytes - PLAIN.length, ' ')]);
    expect(await outcomes(padded(MAX_DOCUMENT_BYTES))).toEqual([REPORT]);
    expect(await outcomes(padded(MAX_DOCUMENT_BYTES + 1))).toEqual(['rejected too_large']);
  });

  test.each([
    [64, 62, 'report'],
    [65, 63, 'rejected'],
  ])('%i levels of elements', async (_, levels, kind) => {
    const nest = `${'<x>'.repeat(levels)}${'</x>'.repeat(levels)}`;
    const [document] = await readAll(plainWith('<policy_published>', `<policy_published>${nest}`));
    expect(document?.kind).toBe(kind);
  });

  it('a text may have a million characters and no more', async () => {
    const comment = (length: number): string =>
      plainWith('<count>7', `<reason><comment>${'c'.repeat(length)}</comment></reason><count>7`);
    expect(await outcomes(comment(1_000_000))).toEqual([REPORT]);
    expect(await outcomes(comment(1_000_001))).toEqual(['rejected too_large']);
  });

  it('a million elements are allowed in each record, not in the whole report', async () => {
    const record = (elements: number): string =>
      RECORDS.replace('<auth_results/>', '<x/>'.repeat(elements));
    const twoRecords = plainWith(RECORDS, record(900_000) + record(900_000));
    expect(await outcomes(twoRecords)).toEqual([REPORT]);
    expect(await outcomes(plainWith(RECORDS, record(1_000_001)))).toEqual(['rejected too_large']);
  });

  it('containers may be nested four deep, as a Maildir in a tar.gz whose mails have a gzip, a mail counting as one', async () => {
    const gzip = gzipSync(gzipSync(PLAIN));
    const inZip = zip([{ name: 'r.gz', content: gzip }]);
    const tooDeep = zip([
      { name: 'r.gz', content: gzipSync(gzip) },
      { name: 'r.xml', content: PLAIN },
    ]);
    expect(await outcomes(mail(base64(inZip)))).toEqual([REPORT]);
    expect(await outcomes(mail(base64(tooDeep)))).toEqual(['rejected too_deep', REPORT]);
  });

  it('a text that quotes a mail at that depth is read as text', async () => {
    const quoting = mail(multipart([text('From: a@example.com\r\nSubject: x'), base64(PLAIN)]));
    const archive = zip([{ name: 'b.zip', content: zip([{ name: 'r.eml', content: quoting }]) }]);
    const input = zip([{ name: 'a.zip', content: archive }]);
    expect(await outcomes(input)).toEqual([REPORT]);
  });

  it('a mail of millions of lines costs no more than its bytes', async () => {
    const input = mail(multipart([text('\r\n'.repeat(20 * MIB)), base64(PLAIN)]));
    const peak = await peakOf(async () => {
      expect(await outcomes(input)).toEqual([REPORT]);
    });
    expect(peak).toBeLessThan(160 * MIB);
  });

  it('a mail may have 48 MiB', async () => {
    const input = mail(text('a'.repeat(MAX_MAIL_BYTES)));
    expect(await outcomes(input)).toEqual(['rejected too_large']);
  });
});

describe('large and genuine reports', () => {
  it('a report of 10,000 records is read, packed better than 100 : 1', async () => {
    const input = gzipSync(plainWith(RECORDS, RECORDS.repeat(5_000)), { level: 9 });
    const [document] = await readAll(input);
    expect(document).toMatchObject({
      report: { tally: { recordCount: 10_000, totalMessages: 50_000, alignedMessages: 35_000 } },
    });
    expect(5_000 * RECORDS.length).toBeGreaterThan(100 * input.length);
  });

  it('passes on 10,000 records without keeping the warnings of each', async () => {
    const odd = RECORDS.replaceAll(/<count>\d<\/count>/g, '<count>?</count>');
    const { report } = await read(plainWith(RECORDS, odd.repeat(5_000)));
    expect(report.warnings).toEqual([
      { code: 'invalid_count', count: 10_000, where: 'line 26, column 13' },
    ]);
  });
});
