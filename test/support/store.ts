import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openStore, type Store } from '../../src/store/connection/open.ts';
import { takeStore } from './postgres-stores.ts';

/** A store that is closed at the end of the test. */
export async function aStore(): Promise<Store> {
  const store = await openTestStore();
  onTestFinished(() => store.close());
  return store;
}

/** The path of a database that does not exist yet, in a folder that is removed at the end of the test. */
export function aDatabasePath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'plumbline.db');
}

/**
 * A new store in memory; in the suite `test:second-writer`, one on a file that another process writes to; in the
 * project `postgres`, one on PostgreSQL.
 */
export async function openTestStore(): Promise<Store> {
  if (process.env['TEST_STORE'] === 'postgres') return await takeStore();
  if (process.env['TEST_STORE'] !== 'file') return await openStore(':memory:');
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-'));
  const path = join(folder, 'plumbline.db');
  const store = await openStore(path);
  await tellWriter({ attach: path });
  const close = async () => {
    await tellWriter({ detach: path });
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { ...store, close };
}

let writer: ChildProcess | undefined;
let lastTold: Promise<unknown> = Promise.resolve();

/** Sends a command to the other process, which ends with this one, and waits until it is done. */
function tellWriter(message: { readonly attach: string } | { readonly detach: string }) {
  writer ??= fork(new URL('../second-writer/writer.ts', import.meta.url));
  const told = lastTold.then(async () => {
    const done = once(writer as ChildProcess, 'message');
    writer?.send(message);
    await done;
  });
  lastTold = told;
  return told;
}
