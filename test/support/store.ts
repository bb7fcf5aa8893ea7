import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openStore, type Store } from '../../src/store/open.ts';

/** A store in memory that ends with the test. */
export async function aStore(): Promise<Store> {
  const store = await openStore(':memory:');
  onTestFinished(() => store.close());
  return store;
}

/** The path of a database that does not exist yet, in a folder that ends with the test. */
export function aDatabasePath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'plumbline.db');
}
