import { readdirSync, readFileSync } from 'node:fs';
import { deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { ReportRecord } from '../../src/domain/reports/aggregate-report.ts';
import { toRecordValues } from '../../src/domain/reports/record-text.ts';
import { unpackContent } from '../../src/domain/reports/report-content.ts';
import { Budget } from '../../src/intake/budget.ts';
import { gunzip, isGzip, isZlib, unzlib } from '../../src/intake/containers/gzip.ts';
import { readZip } from '../../src/intake/containers/zip.ts';
import type { Content } from '../../src/intake/content.ts';
import { WarningLog } from '../../src/intake/warnings.ts';
import { readOriginal } from '../../src/store/documents/originals.ts';
import { toReport } from '../../src/store/reports/conflicts.ts';
import { openSample, SAMPLES } from '../support/corpus.ts';
import { takeIn } from '../support/ingest.ts';
import { NOW, plainWith, read } from '../support/intake.ts';
import { aStore } from '../support/store.ts';
import { zip } from '../support/zip.ts';

const FIXTURES = new URL('../fixtures/', import.meta.url);

/** Every file of a reporter, with its name. */
function* listFiles(): Generator<readonly [name: string, bytes: Buffer]> {
  for (const name of readdirSync(FIXTURES)) yield [name, readFileSync(new URL(name, FIXTURES))];
  yield ['gzip.xml.gz', gzipSync(plainWith('<count>7<', '<count>71<'))];
  yield ['zlib.xml.zz', deflateSync(plainWith('<count>7<', '<count>72<'))];
  yield ['zip.zip', zip([{ name: 'a.xml', content: plainWith('<count>7<', '<count>73<') }])];
  for (const sample of SAMPLES)
    if (sample.expect !== 'reject') yield [sample.path, openSample(sample)];
}

/** The XML in an original with one report. */
async function unpack(bytes: Uint8Array): Promise<Uint8Array> {
  const content = await open(bytes);
  if (content === undefined) return bytes;
  return await unpack(Buffer.concat(await Array.fromAsync(content)));
}

/** undefined when it is no container. */
async function open(bytes: Uint8Array): Promise<Content | undefined> {
  const unpacking = { budget: new Budget(bytes.length), log: new WarningLog() };
  if (isGzip(bytes)) return gunzip(bytes, unpacking);
  if (isZlib(bytes)) return unzlib(bytes, unpacking);
  if (bytes[0] !== 0x50 || bytes[1] !== 0x4b) return undefined;
  const { value } = await readZip(bytes, unpacking).next();
  return value?.content;
}

const toText = (record: ReportRecord): string => JSON.stringify(toRecordValues(record));

test('what is stored of each document is what its original says, the largest records first', async () => {
  const { db } = await aStore();
  const receivedAt = new Date(NOW).toISOString();
  const payloads = new Set<string>();
  for (const [name, bytes] of listFiles())
    for (const { report } of await takeIn({ db }, bytes, { name, receivedAt }))
      if (report !== null) payloads.add(report.payloadSha256);
  const contents = await db.selectFrom('report').select(['content', 'document_seq']).execute();
  for (const conflict of await db.selectFrom('conflict').selectAll().execute())
    contents.push(toReport(conflict));
  expect(contents).toHaveLength(payloads.size);
  // Of the fixtures seven are reports with contents of their own.
  expect(contents.length).toBeGreaterThanOrEqual(10);
  for (const { content, document_seq } of contents) {
    const { report, records } = await read(await unpack(await readOriginal(db, document_seq)));
    const { metadata, policyPublished, xmlNamespace, version } = report;
    const { extraContactInfo, generator, errors } = metadata;
    expect(unpackContent(content)).toEqual({
      ...{ policyPublished, xmlNamespace, version, extraContactInfo, generator, errors },
      records: records
        .toSorted((a, b) => b.count - a.count || (toText(a) < toText(b) ? -1 : 1))
        .map((record) => ({ ...record, omitted: 0 })),
      others: { recordCount: 0, totalMessages: 0, alignedMessages: 0 },
    });
  }
});
