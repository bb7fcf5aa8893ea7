import { describe, expect, test } from 'vitest';
import { Budget } from '../../src/intake/budget.ts';
import { splitMailbox } from '../../src/intake/containers/mailbox.ts';
import { splitParts } from '../../src/intake/containers/mime.ts';
import { sniff } from '../../src/intake/containers/sniff.ts';
import { readTar } from '../../src/intake/containers/tar.ts';
import { decodeBody } from '../../src/intake/containers/transfer-encoding.ts';
import { readZip } from '../../src/intake/containers/zip.ts';
import { WarningLog } from '../../src/intake/warnings.ts';

const BYTES = 64 * 1024 * 1024;
/** What a gzip of them has at least: a stranger's input is given up early. */
const PACKED_BYTES = 60_000;

/** Counts what is spent. */
class Counting extends Budget {
  steps = 0;

  override spend(...[what, count = 1]: Parameters<Budget['spend']>): void {
    this.steps += count;
    super.spend(what, count);
  }
}

async function countSteps(search: (budget: Budget) => AsyncIterable<unknown> | Iterable<unknown>) {
  const budget = new Counting(PACKED_BYTES);
  const found = search(budget);
  try {
    for await (const _ of found) budget.steps += 1;
  } catch {
    // What is refused was searched to there.
  }
  return budget.steps;
}

const inherited = (budget: Budget) => ({ budget, log: new WarningLog() });

/** Multiparts in one another whose boundaries are nearly the lines of the innermost body. */
function nested(filling: string, boundary: (level: number) => string): Buffer {
  const heads = Array.from({ length: 8 }, (_, level) => {
    const name = boundary(level);
    return `${level === 0 ? '' : '\n'}Content-Type: multipart/mixed; boundary="${name}"\n\n--${name}`;
  });
  const head = Buffer.from(heads.join(''));
  return Buffer.concat([head, Buffer.alloc(BYTES - head.length, filling)]);
}

describe('64 MiB are searched in steps that their number bounds', () => {
  const dashes = '-'.repeat(249);
  test.each<[string, Buffer]>([
    ['dashes', nested(`\n${dashes}`, () => dashes)],
    ['dashes with the longest boundary', nested(`\n${'-'.repeat(90)}`, (i) => '-'.repeat(100 - i))],
    ['line ends', nested('\n', (i) => `b${i}`)],
    ['nothing but dashes', nested('-', (i) => '-'.repeat(100 - i))],
    ['a header that never ends', Buffer.alloc(BYTES, 'a:\r\n ')],
  ])('for parts of a mail, of %s', async (_what, mail) => {
    const steps = await countSteps((budget) => splitParts(mail, inherited(budget)));
    expect(steps).toBeLessThan(BYTES);
  });

  test.each([
    ['From', '\n\nFrom \n'],
    ['line ends', '\n'],
    ['long lines', `\n\nFrom ${'a'.repeat(900)}\n`],
  ])('for messages of a mailbox, of %s', async (_what, filling) => {
    const box = Buffer.concat([Buffer.from('From '), Buffer.alloc(BYTES, filling)]);
    expect(await countSteps((budget) => splitMailbox(box, budget))).toBeLessThan(BYTES);
  });

  test.each(['PK\x05\x06', 'PK', '\0'])('for the end of a zip, of %j', async (filling) => {
    const zip = Buffer.alloc(BYTES, filling);
    expect(await countSteps((budget) => readZip(zip, inherited(budget)))).toBeLessThan(BYTES);
  });

  test.each(['uuencode', 'base64', 'quoted-printable'])('for the text in %s', async (encoding) => {
    for (const filling of ['begin 644 a\n', '=\n', '\n', 'M']) {
      const body = Buffer.alloc(BYTES, filling);
      const steps = await countSteps((budget) => decodeBody(body, encoding, budget));
      expect(steps).toBeLessThan(BYTES);
    }
  });

  test('for the files of a tar', async () => {
    expect(await countSteps((budget) => readTar(Buffer.alloc(BYTES), budget))).toBeLessThan(BYTES);
  });

  test.each(['\0', ' ', '<', '\n', 'begin 644', 'a:\n', '{"a"'])(
    'to know its kind, of %j',
    (filling) => {
      expect(sniff(Buffer.alloc(16 * 1024, filling)).kind).toBeDefined();
    },
  );
});
