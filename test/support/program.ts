import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { onTestFinished, vi } from 'vitest';
import { runCommand } from '../../src/commands/program.ts';
import type { Ran } from './command.ts';
import { aDatabasePath } from './store.ts';

/**
 * The command in this process, with a database of its own: for tests in which the process is not the point. A
 * test of what only a process has (signals, pipes, terminals) uses `aCommand`.
 */
export function aProgram(env: NodeJS.ProcessEnv = {}) {
  const database = aDatabasePath();
  const folder = dirname(database);
  const before = { ...process.env };
  onTestFinished(() => {
    vi.restoreAllMocks();
    restore(before);
  });
  const run = async (args: readonly string[], input: string | Buffer = ''): Promise<Ran> => {
    restore(before);
    Object.assign(process.env, { PLUMBLINE_DATABASE: database, ...env });
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(
      Readable.from([Buffer.from(input)]) as typeof process.stdin,
    );
    const printed = { stdout: capture('stdout'), stderr: capture('stderr') };
    process.exitCode = undefined;
    const status = await runCommand(args);
    process.exitCode = undefined;
    return { status, stdout: printed.stdout(), stderr: printed.stderr() };
  };
  /** Runs with `--json` and returns the one printed value. */
  const json = async (...args: string[]) => {
    const { stdout, stderr, status } = await run([...args, '--json']);
    if (status !== 0)
      throw new Error(`plumbline ${args.join(' ')} ended with ${status}: ${stderr}`);
    return JSON.parse(stdout);
  };
  return { folder, database, run, json };
}

function restore(before: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
}

/** Keeps what is written to a stream from now on, and returns it. */
function capture(stream: 'stdout' | 'stderr'): () => string {
  const chunks: Buffer[] = [];
  vi.spyOn(process[stream], 'write').mockImplementation((text, ...rest: unknown[]) => {
    chunks.push(Buffer.from(text));
    (rest.at(-1) as (() => void) | undefined)?.();
    return true;
  });
  return () => Buffer.concat(chunks).toString();
}
