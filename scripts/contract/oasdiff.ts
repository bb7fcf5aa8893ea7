import { spawnSync } from 'node:child_process';

/** One line of oasdiff's changelog: the change, its severity and its operation. */
export interface Change {
  readonly id: string;
  readonly text: string;
  readonly level: number;
  readonly operationId?: string;
  readonly path?: string;
}

/** oasdiff's severity for harmless changes; warnings and errors are above it. */
export const INFO = 1;

/** The changes for callers from one contract to another. */
export function listChanges(from: string, to: string): readonly Change[] {
  return run('changelog', from, to) as readonly Change[];
}

/** Every difference between two contracts except for descriptions and examples, as a tree. */
export function diff(from: string, to: string): object {
  const words = 'description,examples,extensions,summary,title';
  return (run('diff', from, to, '--exclude-elements', words) ?? {}) as object;
}

/** The values of a change, in order: oasdiff's JSON has them in its text, each in backquotes. */
export function argumentsOf({ text }: Change): readonly string[] {
  return [...text.matchAll(/`([^`]*)`/g)].map(([, value = '']) => value);
}

function run(...args: string[]): unknown {
  // A path parameter's name is an argument's name in a generated client.
  const options = ['--format', 'json', '--include-path-params'];
  const { error, status, stdout, stderr } = spawnSync('oasdiff', [...args, ...options], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error !== undefined)
    throw new Error('oasdiff does not run; .ci/run says how to install it', { cause: error });
  if (status !== 0) throw new Error(`oasdiff ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}
