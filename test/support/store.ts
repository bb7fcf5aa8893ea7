import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import { fillSqlite, openSqliteBytes } from '../../src/store/engine/sqlite/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { TIMES_FULL } from './counts.ts';
import { copyDatabase, runOn, takeDatabase, takeStore, toName } from './postgres-stores.ts';

/** Whether these tests run on PostgreSQL: the project `postgres`. */
export const IS_POSTGRES = process.env['TEST_STORE'] === 'postgres';

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
 * A database for several stores and processes, which goes at the end of the test: the path of a file that does
 * not exist yet, or the URL of a new database of PostgreSQL.
 */
export async function aDatabase(): Promise<string> {
  if (!IS_POSTGRES) return aDatabasePath();
  const { url, giveBack } = await takeDatabase();
  onTestFinished(giveBack);
  return url;
}

/** Keeps a copy of a database that nobody has open. Returns what puts the copy in its place. */
export async function backUp(database: string): Promise<() => Promise<void>> {
  if (!IS_POSTGRES) {
    const bytes = readFileSync(database);
    return async () => writeFileSync(database, bytes);
  }
  const name = toName(database);
  const server = database.replace(/[^/]+$/, 'template1');
  await letGo(server, name);
  const kept = toName(await copyDatabase(name));
  return async () => {
    await letGo(server, name);
    await runOn(server, `alter database ${name} rename to ${kept}_lost`);
    await runOn(server, `alter database ${kept} rename to ${name}`);
  };
}

/** Ends what still uses a database of PostgreSQL. */
async function letGo(server: string, name: string): Promise<void> {
  await runOn(
    server,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
  );
}

/** The kinds of stores that random histories run on, with the number of histories for each. */
export function storesOfHistories(counts: {
  readonly few: readonly [memory: number, file: number, postgres: number];
  readonly full: readonly [memory: number, file: number, postgres: number];
}) {
  const times = TIMES_FULL || 1;
  const [memory, file, postgres] = TIMES_FULL > 0 ? counts.full : counts.few;
  if (IS_POSTGRES)
    return [{ where: 'on PostgreSQL', open: openTestStore, count: times * postgres }];
  return [
    { where: 'in memory', open: openTestStore, count: times * memory },
    { where: 'in a file', open: () => openStore(aDatabasePath()), count: times * file },
  ];
}

/** A migrated database of which each store in memory is a copy: migrating takes ten times as long. */
let template: Promise<Buffer> | undefined;

/**
 * A new store in memory; in the suite `test:second-writer`, one on a file that another process writes to; in the
 * project `postgres`, one on PostgreSQL.
 */
export async function openTestStore(): Promise<Store> {
  if (IS_POSTGRES) return await takeStore();
  if (process.env['TEST_STORE'] !== 'file') {
    template ??= fillSqlite(async () => {});
    return openSqliteBytes(await template);
  }
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
