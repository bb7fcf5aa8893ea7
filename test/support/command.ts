import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Db } from '../../src/store/engine/database.ts';
import { openStore } from '../../src/store/engine/open.ts';

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder that is removed when the test is over. */
export async function aFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * The real command, in a process of its own, in an empty folder with a database of its own: that of `src/`, or of
 * another `cli`.
 */
export async function aCommand(given: NodeJS.ProcessEnv = {}, cli = CLI) {
  const folder = await aFolder();
  const database = join(folder, 'data/plumbline.db');
  const own = { PATH: process.env['PATH'], PLUMBLINE_PORT: '0', PLUMBLINE_DATABASE: database };
  const env = { ...own, ...given };
  const start = (...args: string[]) =>
    spawn(process.execPath, [cli, ...args], { cwd: folder, env });
  const run = (args: readonly string[], input = ''): Promise<Ran> => {
    const child = start(...args);
    child.stdin.end(input);
    return finish(child);
  };
  /** Runs with `--json` and returns the one printed value. */
  const json = async (...args: string[]) => {
    const { stdout, stderr, status } = await run([...args, '--json']);
    if (status !== 0)
      throw new Error(`plumbline ${args.join(' ')} ended with ${status}: ${stderr}`);
    return JSON.parse(stdout);
  };
  /** Changes or reads the database in this process, which is quicker than another command. */
  const withDb = async <T>(work: (db: Db) => Promise<T>): Promise<T> => {
    const store = await openStore(resolve(folder, env.PLUMBLINE_DATABASE));
    try {
      return await work(store.db);
    } finally {
      await store.close();
    }
  };
  return { folder, env, start, run, json, withDb };
}

export function finish(child: ReturnType<typeof spawn>): Promise<Ran> {
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, stdout, stderr }));
  });
}

/** The output of a process up to and including the expected text. */
export function printed(child: ReturnType<typeof spawn>, wanted: RegExp): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (wanted.test(text)) resolve(text);
    });
    child.once('close', (status) => reject(new Error(`ended with ${status} after ${text}`)));
  });
}
