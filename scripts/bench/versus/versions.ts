import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fill, OWN_ROOT } from '../storage/fill.ts';
import type { Filled } from '../storage/fill-job.ts';
import type { ShapeName } from '../storage/shapes.ts';

/** A checkout of the product. */
export interface Version {
  readonly name: 'before' | 'after';
  readonly root: string;
}

export function toVersions(other: string): Version[] {
  return [
    { name: 'before', root: resolve(other) },
    { name: 'after', root: OWN_ROOT },
  ];
}

export type Databases = (version: Version, shape: ShapeName, reports: number) => Promise<Filled>;

/** People who may look at pages: each at 300 in fifteen minutes. */
const PEOPLE = 200;

/**
 * Gives databases on SQLite to `work`, each filled once by its version's own intake. `BENCH_FOLDER` names a folder that
 * keeps them for the next run.
 */
export async function withFilled(work: (open: Databases) => Promise<void>): Promise<void> {
  const kept = process.env['BENCH_FOLDER'];
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'plumbline-bench-')));
  try {
    await work(async ({ name, root }, shape, reports) => {
      const path = join(folder, `${name}-${shape}-${reports}`);
      const known = await readFile(`${path}.json`, 'utf8').then(JSON.parse, () => undefined);
      if (known !== undefined) return known;
      const database = `${path}.db`;
      const filled = await fill({ root, database, shape, reports, people: PEOPLE });
      await writeFile(`${path}.json`, JSON.stringify(filled));
      return filled;
    });
  } finally {
    if (kept === undefined) await rm(folder, { recursive: true });
  }
}
