import { describe, expect, it, test } from 'vitest';
import { fixture, PLAIN, plainWith, read } from '../support/intake.ts';

const BODY = PLAIN.slice(PLAIN.indexOf('<feedback'));
const END = '</feedback>';

const utf16 = (text: string, mark = ''): Buffer => Buffer.from(mark + text, 'utf16le');
const declaring = (encoding: string): string => plainWith('UTF-8', encoding);

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe('encodings', () => {
  test.each([
    ['a UTF-8 byte order mark', fixture('hotmail-bom.xml')],
    ['UTF-16, little end first', utf16(PLAIN, '\ufeff')],
    ['UTF-16, big end first', utf16(PLAIN, '\ufeff').swap16()],
    ['UTF-16 without a byte order mark', utf16(declaring('UTF-16'))],
    ['UTF-16 declared by mistake', declaring('UTF-16')],
    ['no declaration', BODY],
    [
      'an unusual declaration',
      PLAIN.replace(/<\?xml.*\?>/, "<?xml version='2.0' standalone='maybe' ?>"),
    ],
  ])('%s is accepted', async (_, input) => {
    const { report, warnings } = await read(input);
    expect(report.metadata.orgName).toBe('Example Mail');
    expect(warnings).toEqual([]);
  });

  test.each([
    ['windows-1252', fixture('aol-windows-1252.xml'), 'Exämple “Mail”'],
    [
      'iso-8859-15',
      Buffer.from(declaring('iso-8859-15').replace('Mail', 'M\xa4il'), 'latin1'),
      'Example M€il',
    ],
    ['UTF-8', Buffer.from(PLAIN.replace('Mail', 'Mäil ✉ 📬')), 'Example Mäil ✉ 📬'],
  ])('%s is decoded as declared', async (_, input, orgName) => {
    const { report, warnings } = await read(input);
    expect(report.metadata.orgName).toBe(orgName);
    expect(warnings).not.toContain('unreadable_characters');
  });

  it('reads invalid UTF-8 as U+FFFD, with a warning', async () => {
    const { report, warnings } = await read(
      Buffer.from(PLAIN.replace('Mail', 'M\xe4il'), 'latin1'),
    );
    expect(report.metadata.orgName).toBe('Example M\ufffdil');
    expect(warnings).toEqual(['unreadable_characters']);
  });

  it('reads an unknown encoding as UTF-8, with a warning', async () => {
    const { report, warnings } = await read(declaring('x-nonsense').replace('Mail', 'Mäil'));
    expect(report.metadata.orgName).toBe('Example Mäil');
    expect(warnings).toEqual(['unknown_encoding']);
  });
});

describe('accepted without a warning', () => {
  test.each([
    ['comments', plainWith('<count>7<', '<!-- a & b --><count><!-- -->7<')],
    ['CDATA', plainWith('Example Mail', '<![CDATA[Example Mail]]>')],
    ['processing instructions', plainWith('<count>7<', '<?a b c?><count>7<')],
    ['CRLF', PLAIN.replaceAll('\n', '\r\n')],
    ['one line', PLAIN.replaceAll(/\n\s*/g, '')],
    ['tabs', PLAIN.replaceAll('  ', '\t')],
    ['blanks around values', PLAIN.replaceAll(/>([^<\n]+)</g, '>\n\t $1 \n<')],
    ['prefixes', fixture('aol-prefixed.xml')],
    [
      'a default namespace',
      plainWith('<feedback>', '<feedback xmlns="http://dmarc.org/dmarc-xml/0.1">'),
    ],
    ['a namespace that is reset', plainWith('<report_metadata>', '<report_metadata xmlns="">')],
    [
      'an xsi:schemaLocation',
      plainWith('<feedback>', '<feedback xmlns:xsi="urn:x" xsi:schemaLocation="a b">'),
    ],
    [
      'unknown elements',
      plainWith('<pct>', '<psd>n</psd><t>y</t><v>DMARC1</v><rf/><ri>1</ri><pct>'),
    ],
    [
      'names of JavaScript’s own properties',
      plainWith('<pct>', '<constructor/><__proto__>x</__proto__><pct>'),
    ],
    ['blanks and a comment after the report', `${PLAIN}\n\n<!-- bye -->\n`],
  ])('%s', async (_, input) => {
    const { report, warnings } = await read(input);
    expect(report.tally).toMatchObject({ totalMessages: expect.any(Number), alignedMessages: 7 });
    expect(report.metadata.orgName).toBe('Example Mail');
    expect(warnings).toEqual([]);
  });

  it('children in another order', async () => {
    const [metadata] = /<report_metadata>.*<\/report_metadata>/s.exec(PLAIN) ?? [''];
    const { report } = await read(plainWith(metadata, '').replace(END, metadata + END));
    expect(report).toMatchObject({
      metadata: { reportId: '2026-0001' },
      tally: { recordCount: 2 },
    });
  });
});

describe('the namespace, as found', () => {
  test.each([
    ['none', PLAIN, null],
    ['the default one', fixture('gmx-rfc9990.xml'), 'urn:ietf:params:xml:ns:dmarc-2.0'],
    ['the one of the prefix', fixture('aol-prefixed.xml'), 'http://dmarc.org/dmarc-xml/0.1'],
    ['not one of other prefixes', plainWith('<feedback>', '<feedback xmlns:x="urn:x">'), null],
  ])('%s', async (_, input, namespace) => {
    expect((await read(input)).report.xmlNamespace).toBe(namespace);
  });
});

describe('repaired, with a warning', () => {
  test.each([
    ['blanks before the declaration', `\r\n ${PLAIN}`, 'blank_before_declaration', 'Example Mail'],
    [
      'a forbidden character',
      plainWith('Mail', 'M\u001fil'),
      'forbidden_characters',
      'Example M\ufffdil',
    ],
    [
      'a reference to one',
      plainWith('Mail', 'M&#x1F;il'),
      'forbidden_characters',
      'Example M\ufffdil',
    ],
    ['a bare ampersand', plainWith('Mail', '& Mail'), 'bare_ampersand', 'Example & Mail'],
    ['an ampersand before a word', plainWith('Example', 'AT&T;'), 'bare_ampersand', 'AT&T; Mail'],
    [
      'an unknown entity',
      plainWith('Example ', 'Example&nbsp;'),
      'bare_ampersand',
      'Example&nbsp;Mail',
    ],
    [
      'text after the report',
      `${PLAIN}--\nsent by a script & more <`,
      'text_after_report',
      'Example Mail',
    ],
    ['NULs after the report', `${PLAIN}\0\0\0`, 'text_after_report', 'Example Mail'],
    ['another element after the report', `${PLAIN}<p>bye</p>`, 'text_after_report', 'Example Mail'],
    ['a stray schema tag', fixture('ikea-stray-schema.xml'), 'stray_schema_tag', 'Example Mail'],
    [
      'a schema around it',
      `<!-- --><xs:schema a="b">\n${BODY}</xs:schema>`,
      'stray_schema_tag',
      'Example Mail',
    ],
    ['an empty schema before it', `<schema></schema>${BODY}`, 'stray_schema_tag', 'Example Mail'],
  ])('%s', async (_, input, warning, orgName) => {
    const { report, warnings } = await read(input);
    expect(report.metadata.orgName).toBe(orgName);
    expect(report.tally.alignedMessages).toBe(7);
    expect(warnings).toContain(warning);
  });

  test.each([
    ['& Mail', 'line 5, column 22'],
    ['M\u001fil', 'line 5, column 23'],
    ['M&#0;il', 'line 5, column 23'],
    ['Mail\ufffd', 'line 5, column 26'],
  ])('%o: the place is in the warning', async (changed, where) => {
    const { report } = await read(plainWith('Mail', changed));
    expect(report.warnings).toMatchObject([{ count: 1, where }]);
  });

  it('does not change escaped text or ampersands in CDATA', async () => {
    const input = plainWith(
      'Example Mail',
      '&lt;A&amp;B&#x26;C&#38;&gt; <![CDATA[& &amp; ]]>&quot;',
    );
    const { report, warnings } = await read(input);
    expect(report.metadata.orgName).toBe('<A&B&C&> & &amp; "');
    expect(warnings).toEqual([]);
  });

  it.each([1, 2, 3, 7, 64])('gives the same in pieces of %i bytes', async (size) => {
    const input = plainWith('Example Mail', 'A & B&amp;C <![CDATA[& &amp; ]]> ✉ & D');
    const whole = await read(input);
    const pieces = await read(inPieces(Buffer.from(input), size));
    expect(whole.report.metadata.orgName).toBe('A & B&C & &amp;  ✉ & D');
    expect(pieces).toEqual(whole);
  });
});

describe('refused', () => {
  const ENTITIES = '<!DOCTYPE f [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>';

  test.each([
    ['an invalid tag', plainWith('dmarc@example.net', '<a@example.net>'), 'line 6, column 13'],
    ['a truncated report', PLAIN.slice(0, 400), 'line 14, column 5'],
    ['overlapping tags', plainWith('</row>', '</record>'), 'line 32, column 12'],
    ['an escaped report', BODY.replaceAll('<', '&lt;'), 'line 1, column 0'],
    ['a second report', PLAIN + PLAIN, 'line 66, column 9'],
    ['a second report after junk', `${PLAIN} bye \0 ${BODY}`, 'line 65, column 16'],
    ['junk alone', '<<<<', 'line 1, column 1'],
    ['a declaration alone', '<?xml version="1.0"?>', 'line 1, column 20'],
  ])('%s is bad_xml, with its place', async (_, input, where) => {
    await expect(read(input)).rejects.toMatchObject({ reason: 'bad_xml', where });
  });

  it('finds a second report far after the first one', async () => {
    const input = `${PLAIN}junk <${' junk'.repeat(50_000)}${BODY}`;
    await expect(read(input)).rejects.toMatchObject({ reason: 'bad_xml' });
  });

  it('line numbers are those of the file, also after repairs', async () => {
    const input = `\n\n<xs:schema\na="b">\n${BODY.replace('dmarc@', '<')}`;
    await expect(read(input)).rejects.toMatchObject({ where: 'line 9, column 23' });
  });

  test.each([
    ['a DOCTYPE', plainWith('<feedback>', '<!DOCTYPE feedback><feedback>')],
    ['entities', plainWith('<feedback>', `${ENTITIES}<feedback>`).replace('Mail', '&b;')],
    [
      'an external entity',
      plainWith('<feedback>', '<!DOCTYPE f SYSTEM "http://example.org/f.dtd"><feedback>'),
    ],
  ])('%s is doctype_forbidden', async (_, input) => {
    await expect(read(input)).rejects.toMatchObject({ reason: 'doctype_forbidden' });
  });

  test.each([
    ['<rss version="2.0"><broken', '<rss>'],
    ['<x:report xmlns:x="urn:x"/>', '<report>'],
    ['<p>Hello<br></p>', '<p>'],
  ])('%s is not_aggregate, and the root is named', async (input, root) => {
    await expect(read(input)).rejects.toMatchObject({
      reason: 'not_aggregate',
      message: expect.stringContaining(root),
    });
  });
});

describe('elements of another namespace', () => {
  const FOREIGN = 'xmlns:x="urn:example:tool"';
  test.each([
    [
      'under the root',
      '<record>',
      `<x:record ${FOREIGN}><x:row><x:count>900</x:count></x:row></x:record><record>`,
    ],
    ['in a record', '<row>', `<x:row ${FOREIGN}><x:count>900</x:count></x:row><row>`],
    ['in a row', '<count>', `<x:count ${FOREIGN}>900</x:count><count>`],
    ['behind the one of the report', '</count>', `</count><x:count ${FOREIGN}>900</x:count>`],
    ['in a default namespace', '<count>', '<count xmlns="urn:example:tool">900</count><count>'],
    [
      'with a prefix that an element around it has declared again',
      '<row>',
      `<x:row ${FOREIGN}><y:count xmlns:x="" xmlns:y="urn:example:other">9</y:count></x:row><row>`,
    ],
  ])('are not those of the report: %s', async (_where, from, to) => {
    const { report, warnings } = await read(plainWith(from, to));
    expect(report.tally).toEqual((await read(PLAIN)).report.tally);
    expect(warnings).toEqual([]);
  });

  test.each([
    ['with a prefix that is not declared', 'x:count', ''],
    ['in the namespace of RFC 9990', 'x:count', ' xmlns:x="urn:ietf:params:xml:ns:dmarc-2.0"'],
    ['in the namespace of RFC 7489', 'count', ' xmlns="http://dmarc.org/dmarc-xml/0.1"'],
    ['in none', 'count', ' xmlns=""'],
  ])('are not those %s', async (_what, name, declared) => {
    const other = plainWith('<count>7</count>', `<${name}${declared}>8</${name}>`);
    expect((await read(other)).report.tally.totalMessages).toBe(11);
  });

  it('are none where the root is in the same', async () => {
    const other = plainWith('<feedback', '<feedback xmlns="urn:example:tool"');
    expect((await read(other)).report.xmlNamespace).toBe('urn:example:tool');
  });
});

test.each(['unicode', 'ISO-10646-UCS-2', 'UCS-2', 'UTF-16'])(
  'a declaration of %s over bytes of UTF-8 is not believed',
  async (encoding) => {
    const declared = PLAIN.replace(/^<\?xml[^>]*>/, `<?xml version="1.0" encoding="${encoding}"?>`);
    expect((await read(declared)).warnings).toEqual([]);
  },
);
