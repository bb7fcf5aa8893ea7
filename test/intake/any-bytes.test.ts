import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isTls } from '../../src/domain/reports/report.ts';
import { readAll } from '../support/intake.ts';
import { SOUND, spoil, spoilings } from '../support/spoil.ts';

async function expectDocuments(bytes: Uint8Array): Promise<void> {
  const documents = await readAll(bytes);
  expect(documents.length).toBeGreaterThanOrEqual(1);
  expect(documents.length).toBeLessThanOrEqual(20);
  for (const document of documents) {
    expect(['report', 'rejected', 'ignored']).toContain(document.kind);
    if (document.kind !== 'report') continue;
    const { report } = document;
    const count = isTls(report) ? report.sessions.failures : report.tally.totalMessages;
    expect(Number.isSafeInteger(count)).toBe(true);
  }
}

test('any bytes give at least one document, and never an error', async () => {
  await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), expectDocuments), {
    numRuns: 300,
  });
});

test('bytes that begin like a known kind give at least one document', async () => {
  const start = fc.constantFrom(
    '\x1f\x8b\x08',
    'PK\x03\x04',
    'PK\x05\x06',
    'x\x9c',
    '<?xml ',
    '<feedback>',
    'From: a\n',
  );
  const input = fc.tuple(start, fc.uint8Array({ maxLength: 500 }));
  await fc.assert(
    fc.asyncProperty(input, ([head, tail]) =>
      expectDocuments(Buffer.concat([Buffer.from(head, 'latin1'), tail])),
    ),
    { numRuns: 500 },
  );
});

test('corrupted reports, archives and mails give at least one document', async () => {
  const input = fc.tuple(fc.constantFrom(...SOUND), spoilings);
  await fc.assert(
    fc.asyncProperty(input, ([sound, how]) => expectDocuments(how.reduce(spoil, sound))),
    { numRuns: 1500 },
  );
});
