import { gunzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { hostileXml } from '../../scripts/hostile/xml.ts';
import { Budget } from '../../src/intake/budget.ts';
import { toContent } from '../../src/intake/content.ts';
import { readFeedback } from '../../src/intake/report/feedback.ts';
import { WarningLog } from '../../src/intake/warnings.ts';
import { NOW, PLAIN, plainWith, read } from '../support/intake.ts';

/** Enough to exceed every limit on elements and texts. */
const CHARS = 4_200_000;

/** The outcome of each. */
const OUTCOMES: Readonly<Record<string, string>> = {
  'a tag of 90,000 attributes': 'report',
  'many tags with 4,000 attributes, 60 deep': 'report',
  'names of 900,000 characters': 'rejected too_large',
  'an attribute of 900,000 characters': 'report',
  'the same attribute 200,000 times': 'rejected bad_xml',
  'a closing tag of 900,000 characters': 'rejected bad_xml',
  'nothing but bare ampersands': 'rejected too_large',
  'nothing but ampersands without blanks': 'rejected too_large',
  'nothing but entities': 'rejected too_large',
  'nothing but character references': 'rejected too_large',
  'nothing but references to forbidden characters': 'rejected too_large',
  'nothing but forbidden characters': 'rejected too_large',
  'nothing but unknown entities': 'rejected too_large',
  'an entity that is a million characters long': 'rejected too_large',
  'nothing but comments': 'rejected too_large',
  'nothing but beginnings of comments': 'rejected bad_xml',
  'nothing but CDATA sections': 'report',
  'nothing but ends of CDATA sections': 'rejected bad_xml',
  'nothing but processing instructions': 'rejected too_large',
  'nothing but unfinished tags': 'rejected bad_xml',
  'nothing but colons in names': 'report',
  'many elements with 1,000 prefixes': 'report',
  'nothing but empty elements': 'rejected too_large',
  'nothing but empty records': 'report empty_record',
  'nothing but elements nested 60 deep': 'report',
  '10,000 levels': 'rejected too_large',
  'a schema tag after 60,000 blanks': 'report stray_schema_tag',
  '60,000 comments before a schema tag': 'rejected bad_xml',
  'a name of 60,000 dots before the root': 'rejected too_large',
  'nothing but line breaks': 'rejected too_large',
  'much behind the report': 'report text_after_report',
  'nothing but blanks behind the report': 'report',
  'nothing but invalid UTF-8': 'rejected too_large',
  'nothing but UTF-16': 'report',
  'much in an encoding of many bytes': 'rejected too_large',
  'a declaration that does not end': 'rejected bad_xml',
  'a document type with a billion laughs': 'rejected doctype_forbidden',
  'nothing but honest records': 'report',
};

async function outcomeOf(bytes: Uint8Array): Promise<string> {
  try {
    return ['report', ...(await read(gunzipSync(bytes))).warnings].join(' ');
  } catch (error) {
    return `rejected ${(error as { reason?: string }).reason}`;
  }
}

test.each(hostileXml(CHARS))('$name', async ({ name, bytes }) => {
  expect(await outcomeOf(bytes())).toBe(OUTCOMES[name]);
});

describe('a refusal', () => {
  it('quotes no more than 200 characters: a name of 900,000 was stored with the error', async () => {
    const wrong = PLAIN.replace('</feedback>', `</${'n'.repeat(900_000)}>`);
    await expect(read(wrong)).rejects.toMatchObject({ reason: 'bad_xml' });
    const message = await read(`<feedback a${'n'.repeat(900)}>`).catch((error) => error.message);
    expect(message.length).toBeLessThan(250);
  });
});

it('a root that is closed by another name is not a report', async () => {
  await expect(read(plainWith('</feedback>', '</feedbak>'))).rejects.toMatchObject({
    reason: 'bad_xml',
  });
});

it('open tags keep no attributes in memory: 64 of them could have 250,000 each', async () => {
  const attributes = Array.from({ length: 100_000 }, (_, i) => ` a${i}=""`).join('');
  const input = Buffer.from(`<feedback>${`<x${attributes}>`.repeat(40)}`);
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  await expect(read(input)).rejects.toMatchObject({ reason: 'bad_xml' });
  expect(process.memoryUsage.rss() - before).toBeLessThan(300 * 1024 * 1024);
});

it('a document costs what its tokens cost: a kilobyte of packed CDATA sections took 3.4 s of CPU', async () => {
  const budget = new Budget(672);
  const sections = '<![CDATA[]]>'.repeat(CHARS / 12);
  const content = toContent(Buffer.from(PLAIN.replace('</feedback>', `${sections}</feedback>`)));
  const reading = readFeedback(content, { log: new WarningLog(), nowMs: NOW, budget });
  await expect(reading).rejects.toMatchObject({ reason: 'too_costly' });
});
