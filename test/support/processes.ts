import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const ROOT = new URL('../../', import.meta.url).href;

/**
 * Runs a module's text in several processes at the same time, each with the `database` and its number, and returns
 * what each prints. `src/` and `scripts/` in its imports are this repository's. One process alone cannot wait for its own
 * locks.
 */
export async function runTogether(
  count: number,
  database: string,
  text: string,
): Promise<string[]> {
  // Without the end, connections to a server that are kept for later would keep the process.
  const options = moduleOf(`${text}\nprocess.exit();`);
  const runs = Array.from({ length: count }, (_, i) =>
    promisify(execFile)(process.execPath, [...options, database, `${i}`], { timeout: 240_000 }),
  );
  return (await Promise.all(runs)).map(({ stdout }) => stdout.trim());
}

/** The arguments with which node runs a module's text. */
export function moduleOf(text: string): string[] {
  const code = text.replaceAll(/'(?=src\/|scripts\/)/g, `'${ROOT}`);
  return ['--no-warnings', '--input-type=module', '-e', code];
}

/** The processes that `pid` has started. */
export function listChildren(pid: number): number[] {
  const parentOf = (id: string) => {
    try {
      return Number(readFileSync(`/proc/${id}/stat`, 'latin1').split(') ')[1]?.split(' ')[1]);
    } catch {
      return undefined;
    }
  };
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.filter((id) => parentOf(id) === pid).map(Number);
}

export const isProcess = (pid: number) => readdirSync('/proc').includes(String(pid));
