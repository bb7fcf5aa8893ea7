import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { type ServedPlumbline, serveSandbox } from '../../scripts/served-plumbline.ts';

const run = promisify(execFile);
const FOLDER = fileURLToPath(new URL('.', import.meta.url));
/** The longest that a program may take: one that does not end has failed. */
const RUN_MS = 120_000;

export const DOCUMENTED = fileURLToPath(new URL('../../docs/integrations/', import.meta.url));

export type Row = Readonly<Record<string, unknown>>;

/** A sandbox, and a folder for what a program writes, until the test ends. */
export async function aSandbox(environment: Readonly<Record<string, string>> = {}) {
  const sandbox = await serveSandbox(environment);
  onTestFinished(sandbox.stop);
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-integration-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { ...sandbox, folder };
}

/** The folder of programs that pip has installed, as `<name>.txt` pins them. It is kept for the next run. */
export async function installed(name: string): Promise<string> {
  const folder = join(FOLDER, 'build', name);
  if (!existsSync(join(folder, 'bin/pip'))) await run('python3', ['-m', 'venv', folder]);
  const requirements = join(FOLDER, `${name}.txt`);
  await run(join(folder, 'bin/pip'), ['install', '--quiet', '--requirement', requirements]);
  return join(folder, 'bin');
}

/** What a program prints that ends well. */
export async function outputOf(
  program: readonly [string, ...string[]],
  { url, key, folder }: Pick<ServedPlumbline, 'url' | 'key'> & { readonly folder: string },
): Promise<string> {
  const [command, ...args] = program;
  const own = { PLUMBLINE_BASE_URL: url, PLUMBLINE_API_KEY: key };
  // dlt would keep its state for the next run, and report that it ran.
  const env = { ...process.env, ...own, DLT_DATA_DIR: folder, RUNTIME__DLTHUB_TELEMETRY: 'false' };
  const options = { cwd: folder, env, timeout: RUN_MS, maxBuffer: 2 ** 28 };
  const { stdout } = await run(command, args, options);
  return stdout;
}

/** Every item of a list, page after page. */
export async function readAll(path: string, { url, key }: Pick<ServedPlumbline, 'url' | 'key'>) {
  const rows: Row[] = [];
  const headers = { authorization: `Bearer ${key}` };
  for (let total = 1; rows.length < total; ) {
    const query = `limit=200&offset=${rows.length}`;
    const answer = await fetch(`${url}/v1/external/${path}?${query}`, { headers });
    const page = (await answer.json()) as { readonly data: Row[]; readonly total: number };
    rows.push(...page.data);
    total = page.total;
  }
  return rows;
}
