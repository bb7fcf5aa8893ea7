import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../src/store/engine/open.ts';
import { type Seeded, seed } from '../seed.ts';

/** A database with one domain and this many reports over three years. */
export interface BenchDatabase {
  readonly path: string;
  readonly reports: number;
  readonly key: string;
  readonly domainId: string;
}

/**
 * Gives databases to `work`, each size made once. `BENCH_FOLDER` names a folder that keeps them for the next
 * run: a million reports take minutes.
 */
export async function withDatabases(
  work: (open: (reports: number) => Promise<BenchDatabase>) => Promise<void>,
): Promise<void> {
  const kept = process.env['BENCH_FOLDER'];
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'plumbline-bench-')));
  try {
    await work((reports) => openDatabase(folder, reports));
  } finally {
    if (kept === undefined) await rm(folder, { recursive: true });
  }
}

async function openDatabase(folder: string, reports: number): Promise<BenchDatabase> {
  const path = join(folder, `${reports}.db`);
  const store = await openStore(path);
  const note = join(folder, `${reports}.json`);
  const seeded = await readFile(note, 'utf8').then(JSON.parse, () => undefined);
  const { key, domainIds }: Seeded = seeded ?? (await seed(store, { domains: 1, reports }));
  await store.close();
  await writeFile(note, JSON.stringify({ key, domainIds }));
  return { path, reports, key, domainId: domainIds[0] ?? '' };
}
