/** The cost of reading reports: many typical ones, one very large one, and a decompression bomb. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runJob, toText } from './job.ts';
import { startBenchServer } from './postgres/server.ts';
import { print } from './print.ts';
import { renderReport } from './report-xml.ts';

const TYPICAL = { reports: 1_000, records: 10 };
const POSTGRES_REPORTS = 4_000;
const LARGE_RECORDS = 100_000;
const BOMB_BYTES = 1024 ** 3;

export async function benchIntake(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'));
  try {
    print('\nIntake, compared with reading, unpacking and parsing alone');
    await benchTypical(folder);
    await benchPostgres(folder);
    await benchLarge(folder);
    await benchBomb(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function benchTypical(root: string): Promise<void> {
  const per: number[] = [];
  for (const times of [1, 4]) {
    const folder = await makeFolder(root, `typical-${times}`);
    const reports = TYPICAL.reports * times;
    for (let number = 0; number < reports; number++) {
      const xml = renderReport({ number, records: TYPICAL.records });
      await writeFile(join(folder, `${number}.xml.gz`), gzipSync(xml));
    }
    const [bare, ours] = [await runJob('bare', folder), await runJob('ingest', folder)];
    per.push(ours.cpuMs / reports);
    print(
      `  ${reports} reports of ${TYPICAL.records} records: ${Math.round(reports / ours.seconds)} a second, ` +
        `${Math.round((reports * 1000) / ours.cpuMs)} a second of CPU (goal ≥ 1000), ` +
        `${(ours.cpuMs / bare.cpuMs).toFixed(2)} × the parser alone; ${toText(ours)}`,
    );
  }
  const [one = 0, four = 0] = per;
  print(
    `  a report among 4,000 costs ${(four / one).toFixed(2)} × one among 1,000 (goal: linear, about 1)`,
  );
}

/** Commits wait for the disk, and so does the clock: a second here is one of the machine, not of the CPU. */
async function benchPostgres(root: string): Promise<void> {
  const server = await startBenchServer();
  try {
    const folder = join(root, `typical-${POSTGRES_REPORTS / TYPICAL.reports}`);
    const before = server.micros();
    const ours = await runJob('ingest', folder, server.url);
    const database = (server.micros() - before) / 1000;
    const each = (ms: number) => (ms / POSTGRES_REPORTS).toFixed(2);
    print(
      `  the same ${POSTGRES_REPORTS} on PostgreSQL: ${Math.round(POSTGRES_REPORTS / ours.seconds)} a second (goal ≥ 500); ` +
        `a report takes ${each(ours.cpuMs)} ms of CPU, and ${each(database)} ms of PostgreSQL's; ${toText(ours)}`,
    );
  } finally {
    await server.stop();
  }
}

async function benchLarge(root: string): Promise<void> {
  const folder = await makeFolder(root, 'large');
  const xml = renderReport({ number: 1, records: LARGE_RECORDS });
  await writeFile(join(folder, 'large.xml.gz'), gzipSync(xml));
  const [bare, ours] = [await runJob('bare', folder), await runJob('ingest', folder)];
  print(
    `  one report of ${LARGE_RECORDS} records (${toMb(xml.length)} MB of XML): ${ours.seconds.toFixed(2)} s (goal < 1.5), ` +
      `${ours.peakMb.toFixed(0)} MB above idle (goal < 150), ` +
      `${(ours.cpuMs / bare.cpuMs).toFixed(2)} × the parser alone; ${toText(ours)}`,
  );
}

async function benchBomb(root: string): Promise<void> {
  const folder = await makeFolder(root, 'bomb');
  await writeFile(join(folder, 'bomb.xml.gz'), gzipSync(Buffer.alloc(BOMB_BYTES, '<')));
  const ours = await runJob('ingest', folder);
  print(
    `  a bomb of ${toMb(BOMB_BYTES)} MB: stopped after ${ours.seconds.toFixed(2)} s, ` +
      `${ours.peakMb.toFixed(0)} MB above idle; ${toText(ours)}`,
  );
}

async function makeFolder(root: string, name: string): Promise<string> {
  const folder = join(root, name);
  await mkdir(folder);
  return folder;
}

function toMb(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(0);
}
