import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { runOn, startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder in which workers note statements (divided-statements.ts). */
    noted: string;
  }
}

const SETTINGS = {
  shared_preload_libraries: 'citus',
  max_prepared_transactions: '200',
  wal_level: 'logical',
  'citus.recover_2pc_interval': '1s',
  // Each costs a test some milliseconds.
  'citus.shard_count': '4',
};

type Settings = Readonly<Record<string, string>>;

export const startNode = (settings: Settings = {}) =>
  startPostgres({ settings: { ...SETTINGS, ...settings } });

/** A coordinator and two workers. */
export const startCluster = (settings?: Settings) =>
  Promise.all([startNode(settings), startNode(settings), startNode(settings)]);

/** Makes a cluster of databases, of which the first one is the coordinator's. */
export async function joinNodes([coordinator = '', ...workers]: readonly string[]): Promise<void> {
  const { port } = new URL(coordinator);
  await runOn(coordinator, 'create extension citus');
  await runOn(coordinator, `select citus_set_coordinator_host('127.0.0.1', ${port})`);
  for (const worker of workers) await addNode(coordinator, worker);
}

export async function addNode(coordinator: string, worker: string): Promise<void> {
  await runOn(worker, 'create extension citus');
  await runOn(coordinator, `select citus_add_node('127.0.0.1', ${new URL(worker).port})`);
}

const DIVIDE = new URL('../../docs/operate/postgres/citus.sql', import.meta.url);

/** Divides a database as an operator does it. */
export const divide = (url: string) => runOn(url, readFileSync(DIVIDE, 'utf8'));

const LIST = new URL('../citus/statements.txt', import.meta.url);

/** Starts a coordinator and two workers for all tests of a run, and adds what they were asked to the list of statements. */
export default async function setup(
  project: Pick<TestProject, 'provide'>,
): Promise<() => Promise<void>> {
  if (!process.env['CITUS_BIN'])
    throw new Error('CITUS_BIN names the folder of the programs of a PostgreSQL that has Citus.');
  const servers = await startCluster();
  project.provide('postgres', servers.map((server) => server.toUrl('postgres')).join(' '));
  const noted = mkdtempSync(join(tmpdir(), 'plumbline-statements-'));
  project.provide('noted', noted);
  return async () => {
    await Promise.all(servers.map((server) => server.stop()));
    const files = [...readdirSync(noted).map((name) => join(noted, name)), LIST];
    const lines = files.flatMap((file) => readFileSync(file, 'utf8').split('\n'));
    writeFileSync(LIST, [...new Set(lines.filter(Boolean)), ''].toSorted().join('\n').trimStart());
    rmSync(noted, { recursive: true });
  };
}
