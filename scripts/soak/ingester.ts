/** The process that ingests: `ingester.ts <until, in ms> <folder>`. It sends its result. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { renderReport } from '../bench/reports.ts';
import { stored as asStored, zipOf } from '../hostile/zip-bytes.ts';
import { runPlumbline } from '../served-plumbline.ts';

const IN_ARCHIVE = 9_000;
const SINGLE = 5_000;

export interface Ingested {
  readonly stored: number;
  readonly errors: readonly string[];
}

/** Ingests folders with an archive and single files, one after another, and counts what was stored. */
async function ingestUntil(until: number, folder: string): Promise<Ingested> {
  let stored = 0;
  const errors: string[] = [];
  for (let round = 0; Date.now() < until; round += 1) {
    const reports = join(folder, `round-${round}`);
    await writeRound(reports, round);
    try {
      const { summary } = await runPlumbline(['ingest', reports], {});
      stored += summary.unclaimed;
      const rest = summary.documents - summary.unclaimed;
      if (rest > 0) errors.push(`round ${round}: ${JSON.stringify(summary)}`);
    } catch (error) {
      errors.push((error as Error).message);
    }
    await rm(reports, { recursive: true });
  }
  return { stored, errors };
}

async function writeRound(folder: string, round: number): Promise<void> {
  await mkdir(folder);
  const first = round * (IN_ARCHIVE + SINGLE);
  const files = Array.from({ length: IN_ARCHIVE + SINGLE }, (_, i) => ({
    name: `${i}.xml.gz`,
    bytes: gzipSync(renderReport(toReport(first + i))),
  }));
  const archived = files.slice(0, IN_ARCHIVE).map(({ name, bytes }) => asStored(name, bytes));
  await writeFile(join(folder, 'archive.zip'), zipOf(archived));
  for (const { name, bytes } of files.slice(IN_ARCHIVE)) await writeFile(join(folder, name), bytes);
}

const toReport = (number: number) => ({
  ...{ domain: 'example.com', records: 2, addresses: 15 },
  ...{ day: number % 365, reporter: Math.floor(number / 365) },
});

const [until = '0', folder = ''] = process.argv.slice(2);
process.send?.(await ingestUntil(Number(until), folder));
process.disconnect?.();
