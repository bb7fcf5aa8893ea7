import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HOSTILE } from '../../scripts/hostile/all.ts';
import { ingest } from '../../src/intake/ingest.ts';
import { listFiles, readFile } from '../../src/intake/inputs/files.ts';
import { createParserProcess } from '../../src/intake/parser/parser-process.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { aFolder } from '../support/command.ts';
import { PLAIN } from '../support/intake.ts';
import { aStore } from '../support/store.ts';

/** One of each way to cost much. */
const CHOSEN = [
  'three million empty gzip members',
  '10,000 zip entries that overlap over empty deflate blocks',
  'a gzip of a stored zip member of 2.1 million header lines',
  'an xmlns of 990,000 characters',
  '1,000 errors of 4 kB',
  'a count of 2^53 - 1',
  'a window in the year 5138',
  'a tag of 90,000 attributes',
  'a document type with a billion laughs',
  '30,000 members that are broken',
];
const GOOD = 40;

async function* inputs(folder: string) {
  for await (const name of listFiles([folder])) yield { name, read: () => readFile(name) };
}

/** How many of the good files had each outcome. */
async function ingestAll(db: Db, folder: string): Promise<Record<string, number>> {
  const parser = createParserProcess();
  onTestFinished(() => parser.close());
  const outcomes: Record<string, number> = {};
  const given = { db, now: () => new Date('2026-08-01T00:00:00Z'), parser };
  for await (const { input, outcome } of ingest(given, inputs(folder)))
    if (input.includes('good')) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  return outcomes;
}

test('good files among hostile ones are all stored, in one run, and known in the second', async () => {
  const folder = await aFolder();
  const hostile = Object.values(HOSTILE)
    .flat()
    .filter(({ name }) => CHOSEN.includes(name));
  expect(hostile).toHaveLength(CHOSEN.length);
  for (const [i, { bytes }] of hostile.entries())
    await writeFile(join(folder, `${i * 4}`), bytes());
  await symlink('/etc/passwd', join(folder, '5-link'));
  await mkdir(join(folder, '6-folder'));
  await symlink(folder, join(folder, '6-folder', 'loop'));
  for (let i = 0; i < GOOD; i++)
    await writeFile(join(folder, `${i}-good.xml`), PLAIN.replace('2026-0001', `good-${i}`));
  const { db } = await aStore();
  expect(await ingestAll(db, folder)).toEqual({ unclaimed: GOOD });
  expect(await ingestAll(db, folder)).toEqual({ duplicate: GOOD });
});
