import { gzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { HOSTILE_CONTAINERS } from '../../scripts/hostile/containers.ts';
import { aReportWith } from '../../scripts/hostile/values.ts';
import { deflated, stored, zipOf } from '../../scripts/hostile/zip-bytes.ts';
import { Budget } from '../../src/intake/budget.ts';
import { readDocuments } from '../../src/intake/containers/documents.ts';
import { countOutcomes } from '../support/count-outcomes.ts';
import { NOW, outcomes, PLAIN, readAll } from '../support/intake.ts';

/** The outcomes of each hostile container, and how many documents have each. */
const OUTCOMES: Readonly<Record<string, object>> = {
  'a zip of 60,000 names for one member': { 'report 1': 1 },
  'three million empty gzip members': { 'rejected too_large': 1 },
  'a gzip of 60 MB of empty deflate blocks': { 'rejected too_costly': 1 },
  'ten gzip members of 100 MB each': { 'rejected too_large': 1 },
  'a gzip whose name has 1 MB and no end': { 'rejected bad_archive': 1 },
  'a gzip after ten members with 64 kB of extra fields': { 'report 1': 1 },
  'a gzip that claims every header field and ends': { 'rejected bad_archive': 1 },
  'zlib data in zlib data in gzip in gzip': { 'report 1': 1 },
  'zlib data of 600 MB of blanks': { 'ignored empty': 3, 'report 1': 1 },
  '10,000 zip entries that overlap over empty deflate blocks': {
    'report 1': 1,
    'ignored empty': 1,
  },
  '10,000 zip entries that overlap over a stored text': {
    'report 1': 1,
    'ignored no_report': 743,
    'rejected too_large': 1,
  },
  'a zip with 13,000 empty entries': { 'report 1': 1, 'ignored empty': 13_000 },
  'a zip that claims 65,535 entries and has one': { 'report 1': 1, 'rejected bad_archive': 1 },
  'a zip64 that claims 2^60 entries': { 'rejected bad_archive': 1 },
  'a zip64 whose directory lies far outside': { 'rejected bad_archive': 1 },
  'an entry that points at the directory': { 'rejected bad_archive': 1, 'report 1': 1 },
  'zips in zips in zips in zips': { 'report 1': 1, 'rejected too_deep': 1 },
  'a zip of names with 60,000 characters that turn the writing direction': { 'report 1': 10 },
  'a zip whose entries have 64 kB of extra fields': { 'report 1': 14 },
  'a zip of 800 entries of 1 MB': {
    'report 1': 1,
    'ignored no_report': 283,
    'rejected too_large': 1,
  },
  'a zip of 600 gzips that end in their header': { 'report 1': 1, 'ignored empty': 600 },
};

test.each(HOSTILE_CONTAINERS)('$name', async ({ name, bytes }) => {
  expect(await countOutcomes(bytes())).toEqual(OUTCOMES[name]);
});

describe('a member', () => {
  it('on which the parser fails is rejected, and the next one is read', async () => {
    const input = zipOf([stored('1.xml', PLAIN), stored('2.xml', PLAIN)]);
    let calls = 0;
    class FailingBudget extends Budget {
      override keep(bytes: number): void {
        calls += 1;
        if (calls === 1) throw new RangeError('Maximum call stack size exceeded');
        super.keep(bytes);
      }
    }
    const budget = new FailingBudget(input.length);
    const documents = await Array.fromAsync(readDocuments(input, { nowMs: NOW, budget }));
    expect(documents).toMatchObject([
      { kind: 'rejected', member: ['1.xml'], refusal: { reason: 'reader_failed' } },
      { kind: 'report', member: ['2.xml'] },
    ]);
    expect(JSON.stringify(documents[0])).not.toContain('stack');
  });

  it('has a name of at most 255 characters without directional controls', async () => {
    const name = `\u202e\u2066\u200f\u061c\u2028\u0007\u{1f600}${'n'.repeat(300)}`;
    const [document] = await readAll(zipOf([stored(name, PLAIN)]));
    expect(document?.member).toEqual([`\u{1f600}${'n'.repeat(253)}`]);
  });

  it('has a name that is not cut within a character', async () => {
    const [document] = await readAll(zipOf([stored(`${'n'.repeat(254)}\u{1f600}`, PLAIN)]));
    expect(document?.member).toEqual(['n'.repeat(254)]);
  });
});

describe('an input that makes many rejected documents', () => {
  it('is not read to its end, because each of them is stored', async () => {
    const broken = Array.from({ length: 3_000 }, () => stored('r.xml', '<feedback>'));
    const found = await countOutcomes(gzipSync(zipOf(broken)));
    expect(found['rejected bad_xml']).toBeLessThan(2_000);
    expect(found['rejected too_costly']).toBe(1);
  });
});

/** A zip of reports of one record, as a receiver collects them. */
const anArchive = (reports: number): Buffer =>
  zipOf(
    Array.from({ length: reports }, (_, i) =>
      deflated(`reporter.example!example.com!${i}.xml`, aReportWith({ id: `${i}` })),
    ),
  );

describe('an archive of many reports', () => {
  it('is read to its end: of 8,000 reports, the last thousand were cut off', async () => {
    const found = (await readAll(anArchive(18_000))).filter(({ kind }) => kind === 'report');
    expect(found).toHaveLength(18_000);
  });

  it('that adds more to the database than its size allows says what of it is stored', async () => {
    const documents = await readAll(
      gzipSync(
        zipOf(Array.from({ length: 5_000 }, (_, i) => stored(`${i}`, aReportWith({ id: `${i}` })))),
      ),
    );
    const reports = documents.length - 1;
    expect(documents.at(-1)).toMatchObject({
      kind: 'rejected',
      member: [`${reports}`],
      refusal: {
        reason: 'too_large',
        message: `The input was not read to its end: it has too many documents. Stored reports before that point: ${reports}. Nothing behind it was read.`,
      },
    });
  });
});

it('a container with nested containers at the limit of depth is rejected for its depth alone', async () => {
  expect(await outcomes(gzipSync(gzipSync(gzipSync(gzipSync(gzipSync(PLAIN))))))).toEqual([
    'rejected too_deep',
  ]);
});
