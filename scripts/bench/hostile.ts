/**
 * The cost of hostile inputs, each in a process of its own, and a check that the good files beside them are
 * stored.
 */
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { HOSTILE } from '../hostile/all.ts';
import { runJob, toText } from './job.ts';
import { print } from './print.ts';
import { renderReport } from './report-xml.ts';

/** For an input of at most a megabyte. */
const GOALS = { cpuSeconds: 5, peakMb: 250, storedMb: 5 };
const MB = 1_000_000;
const GOOD_FILES = 1_000;

/** One kind; all kinds when it is not given. */
export async function benchHostile(kind?: string): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'plumbline-bench-'));
  try {
    print(
      `\nHostile inputs of at most 1 MB (goals: ≤ ${GOALS.cpuSeconds} s of CPU, ≤ ${GOALS.peakMb} MB above idle, ≤ ${GOALS.storedMb} MB stored)`,
    );
    const empty = await sizeOfEmpty(root);
    const kinds = Object.entries(HOSTILE).filter(([name]) => kind === undefined || name === kind);
    for (const [title, inputs] of kinds)
      for (const { name, bytes } of inputs)
        await benchOne(root, `${title}: ${name}`, bytes(), empty);
    if (kind !== undefined) return;
    await benchPlain(root);
    await benchFolder(root);
  } finally {
    await rm(root, { recursive: true });
  }
}

let number = 0;

async function benchOne(root: string, name: string, bytes: Buffer, empty: number): Promise<void> {
  const input = toSmall(bytes);
  const folder = await aFolderOf(root, [input]);
  const job = await runJob('ingest', folder);
  const storedMb = ((await stat(`${folder}-ingest.db`)).size - empty) / MB;
  const [cpuSeconds, peakMb] = [job.cpuMs / 1000, job.peakMb];
  const isOver =
    input.length <= MB * 1.05 &&
    (cpuSeconds > GOALS.cpuSeconds || peakMb > GOALS.peakMb || storedMb > GOALS.storedMb);
  print(
    `${isOver ? '  OVER ' : '  '}${cpuSeconds.toFixed(2).padStart(6)} s ${peakMb.toFixed(0).padStart(4)} MB ` +
      `${storedMb.toFixed(2).padStart(6)} MB stored, ${(input.length / 1000).toFixed(0).padStart(5)} kB  ${name}: ${toText(job)}`,
  );
}

/** Compresses again what is compressed badly. */
function toSmall(bytes: Buffer): Buffer {
  if (bytes.length <= MB || bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gzipSync(gunzipSync(bytes));
  } catch {
    return bytes;
  }
}

async function benchPlain(root: string): Promise<void> {
  const xml = Buffer.from(renderReport({ number: 1, records: 70_000 }));
  const plain = await runJob('ingest', await aFolderOf(root, [xml]));
  const packed = await runJob('ingest', await aFolderOf(root, [gzipSync(xml)]));
  print(
    `  a plain report of ${(xml.length / MB).toFixed(0)} MB: ${plain.peakMb.toFixed(0)} MB above idle, gzipped ${packed.peakMb.toFixed(0)} MB`,
  );
}

/** Good files and all hostile ones in one folder, ingested twice. */
async function benchFolder(root: string): Promise<void> {
  const folder = await aFolderOf(root, []);
  for (let i = 0; i < GOOD_FILES; i++)
    await writeFile(join(folder, `good-${i}.xml`), renderReport({ number: i, records: 2 }));
  for (const { bytes, name } of Object.values(HOSTILE).flat())
    await writeFile(join(folder, `good-5${name.replaceAll(/\W/g, '-')}`), toSmall(bytes()));
  const first = await runJob('ingest', folder);
  const second = await runJob('ingest', folder);
  print(`  ${GOOD_FILES} good files among all of these, first run: ${toText(first)}`);
  print(`  second run: ${toText(second)}`);
  print(`  good files of the first run that are stored: ${first.good} of ${GOOD_FILES}`);
}

async function sizeOfEmpty(root: string): Promise<number> {
  const folder = await aFolderOf(root, []);
  await runJob('ingest', folder);
  return (await stat(`${folder}-ingest.db`)).size;
}

async function aFolderOf(root: string, files: readonly Buffer[]): Promise<string> {
  number += 1;
  const folder = join(root, `${number}`);
  await mkdir(folder);
  for (const [i, bytes] of files.entries()) await writeFile(join(folder, `${i}`), bytes);
  return folder;
}
