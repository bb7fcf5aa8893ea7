/** XML that is expensive to parse: each packs to less than a megabyte. */
import { gzipSync } from 'node:zlib';
import type { Hostile } from './hostile.ts';
import { aRecord, aReportWith } from './values.ts';

const MIB = 1024 * 1024;
/** A little below the limit of one document. */
const MAX_CHARS = 60 * MIB;

const packed = (name: string, xml: () => string | Buffer): Hostile => ({
  name,
  bytes: () => gzipSync(xml(), { level: 1 }),
});

/** A report whose first element has the filling repeated to this many characters. */
const filled = (filling: string, chars: number): string =>
  aReportWith({}).replace(
    '<feedback>',
    () => `<feedback>${filling.repeat(Math.floor(chars / filling.length))}`,
  );

const times = (count: number, render: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => render(i)).join('');

const attributes = (count: number): string => times(count, (i) => ` a${i.toString(36)}=""`);

/** The documents; the large ones have this many characters. */
export function hostileXml(chars: number): readonly Hostile[] {
  const fill = (filling: string, length = chars) => filled(filling, length);
  return [
    packed('a tag of 90,000 attributes', () => aReportWith({ root: attributes(90_000) })),
    packed('many tags with 4,000 attributes, 60 deep', () => {
      const tag = `<x${attributes(4_000)}>`;
      return fill(`${tag.repeat(60)}${'</x>'.repeat(60)}`);
    }),
    packed('names of 900,000 characters', () => fill(`<${'n'.repeat(900_000)}/>`)),
    packed('an attribute of 900,000 characters', () => fill(`<x a="${'v'.repeat(900_000)}"/>`)),
    packed('the same attribute 200,000 times', () =>
      aReportWith({ root: ' a=""'.repeat(200_000) }),
    ),
    packed('a closing tag of 900,000 characters', () => `<feedback></${'n'.repeat(900_000)}>`),
    packed('nothing but bare ampersands', () => fill('& ')),
    packed('nothing but ampersands without blanks', () => fill('&')),
    packed('nothing but entities', () => fill('&amp;')),
    packed('nothing but character references', () => fill('&#65;')),
    packed('nothing but references to forbidden characters', () => fill('&#1;')),
    packed('nothing but forbidden characters', () => fill('\u0001')),
    packed('nothing but unknown entities', () => fill('&lol;')),
    packed('an entity that is a million characters long', () => fill(`&${'a'.repeat(900_000)};`)),
    packed('nothing but comments', () => fill('<!---->')),
    packed('nothing but beginnings of comments', () => fill('<!--')),
    packed('nothing but CDATA sections', () => fill('<![CDATA[]]>')),
    packed('nothing but ends of CDATA sections', () => fill(']]>')),
    packed('nothing but processing instructions', () => fill('<?a?>')),
    packed('nothing but unfinished tags', () => fill('<')),
    packed('nothing but colons in names', () => fill(`<${':'.repeat(900)}/>`)),
    packed('many elements with 1,000 prefixes', () =>
      fill(times(1_000, (i) => `<p${i}:x xmlns:p${i}="u"/>`)),
    ),
    packed('nothing but empty elements', () => fill('<a/>')),
    packed('nothing but empty records', () => fill('<record/>')),
    packed('nothing but elements nested 60 deep', () => fill('<a>'.repeat(60) + '</a>'.repeat(60))),
    packed('10,000 levels', () => fill('<a>', 30_000)),
    packed(
      'a schema tag after 60,000 blanks',
      () => `${' '.repeat(60_000)}<xs:schema>${aReportWith({})}`,
    ),
    packed('60,000 comments before a schema tag', () => `${'<!---->'.repeat(9_000)}<xs:schem`),
    packed('a name of 60,000 dots before the root', () => `<${'a.-'.repeat(20_000)}>`),
    packed('nothing but line breaks', () => fill('\r\n')),
    packed('much behind the report', () => `${aReportWith({})}${'<feedbac'.repeat(chars / 8)}`),
    packed('nothing but blanks behind the report', () => aReportWith({}) + ' '.repeat(chars)),
    packed('nothing but invalid UTF-8', () => Buffer.from(fill('\u0080'), 'latin1')),
    packed('nothing but UTF-16', () => Buffer.from(`\ufeff${fill('<a/>', chars / 2)}`, 'utf16le')),
    packed('much in an encoding of many bytes', () =>
      Buffer.from(`<?xml version="1.0" encoding="gb18030"?>${fill('\u0081')}`, 'latin1'),
    ),
    packed(
      'a declaration that does not end',
      () => `<?xml version="1.0" ${'encoding '.repeat(100_000)}`,
    ),
    packed(
      'a document type with a billion laughs',
      () => `<!DOCTYPE feedback [<!ENTITY a "a">]>${aReportWith({})}`,
    ),
    packed('nothing but honest records', () => {
      const record = aRecord();
      return aReportWith({ records: record.repeat(Math.floor(chars / record.length)) });
    }),
  ];
}

export const HOSTILE_XML = hostileXml(MAX_CHARS);
