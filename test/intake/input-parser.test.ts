import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import type { IntakeDocument } from '../../src/intake/intake-document.ts';
import {
  createInputParser,
  MAX_SMALL_BYTES,
  parseSmall,
} from '../../src/intake/parser/input-parser.ts';
import { NOW, PLAIN, readAll } from '../support/intake.ts';
import { base64, mail, multipart } from '../support/mail.ts';
import { SOUND, spoil, spoilings } from '../support/spoil.ts';
import { zip } from '../support/zip.ts';

const LARGE = PLAIN.replace('</feedback>', `${' '.repeat(MAX_SMALL_BYTES)}</feedback>`);

function aParser() {
  const parser = createInputParser();
  onTestFinished(() => parser.close());
  return parser;
}

/** The indices and outcomes of inputs that are parsed one after the other. */
async function parseEach(
  parser: ReturnType<typeof aParser>,
  inputs: readonly (string | Buffer)[],
): Promise<string[]> {
  const outcomes: string[] = [];
  for (const [index, input] of inputs.entries())
    for await (const document of parser.parse(Buffer.from(input), { nowMs: NOW }))
      outcomes.push(`${index} ${outcomeOf(document)}`);
  return outcomes;
}

function outcomeOf(document: IntakeDocument): string {
  return document.kind === 'report' ? 'report' : document.refusal.reason;
}

describe('small inputs that contain only reports', () => {
  const archive = zip([
    { name: 'a.xml', content: PLAIN },
    { name: 'b.xml', content: PLAIN, isStored: true },
  ]);

  it('are read in this process: no other one is started', async () => {
    const parser = aParser();
    const one = mail(base64(gzipSync(PLAIN)));
    const inputs = [PLAIN, gzipSync(PLAIN), deflateSync(PLAIN), one, gzipSync(one), archive];
    const found = await parseEach(parser, inputs);
    const numbers = [0, 1, 2, 3, 4, 5, 5];
    expect(found).toEqual(numbers.map((number) => `${number} report`));
    expect(parser.pid).toBeUndefined();
  });

  it('give the same documents as all inputs do', async () => {
    expect(await parseSmall(archive, { nowMs: NOW })).toEqual(await readAll(archive));
  });
});

test.each<[string, string | Buffer]>([
  ['has more than the limit', LARGE],
  ['unpacks to more than the limit', gzipSync(LARGE)],
  ['is a mail with something beside a report', mail(multipart([base64(PLAIN), base64('other')]))],
  ['is broken', PLAIN.slice(0, -5)],
  [
    'contains something beside a report',
    zip([
      { name: 'a', content: PLAIN },
      { name: 'b', content: '' },
    ]),
  ],
  ['has 17 members', zip(Array.from({ length: 17 }, (_, i) => ({ name: `${i}`, content: PLAIN })))],
  ['has no report', ''],
])('an input that %s is read by the child process', async (_what, input) => {
  expect(await parseSmall(Buffer.from(input), { nowMs: NOW })).toBeUndefined();
});

test('inputs keep their order, whichever process reads them', async () => {
  const parser = aParser();
  const inputs = [PLAIN, 'nothing', LARGE, gzipSync(PLAIN), '', PLAIN, gzipSync(LARGE)];
  expect(await parseEach(parser, inputs)).toEqual([
    '0 report',
    '1 no_report',
    '2 report',
    '3 report',
    '4 empty',
    '5 report',
    '6 report',
  ]);
  expect(parser.pid).toBeDefined();
});

test('what is read in this process of a corrupted input is what the child reads', async () => {
  const input = fc.tuple(fc.constantFrom(...SOUND), spoilings);
  await fc.assert(
    fc.asyncProperty(input, async ([sound, how]) => {
      const bytes = how.reduce(spoil, sound);
      const documents = await parseSmall(bytes, { nowMs: NOW });
      if (documents !== undefined) expect(documents).toEqual(await readAll(bytes));
    }),
    { numRuns: 500 },
  );
});
