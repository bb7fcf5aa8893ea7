import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SANDBOX_PATH } from '../src/domain/sandbox.ts';
import { createDatabase } from './postgres-database.ts';

const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url));

type Environment = Readonly<Record<string, string>>;

/** A server in a process of its own, with the values that `--json` prints. */
export interface ServedPlumbline {
  /** What the paths of the API come after. */
  readonly url: string;
  readonly key: string;
  /** The demo's database. */
  readonly database?: string;
  readonly stop: () => Promise<void>;
}

/**
 * Starts a server on a free port, and waits until it serves. The variable SERVED_POSTGRES is the URL of a server on which the
 * demo gets a database.
 */
export async function servePlumbline(
  given: readonly string[],
  environment: Environment = {},
): Promise<ServedPlumbline> {
  const { SERVED_POSTGRES: postgres } = process.env;
  const hasDatabase = postgres !== undefined && given.includes('demo');
  const database = hasDatabase ? ['--database', await createDatabase(postgres)] : [];
  const args = [...given, ...database];
  const child = start(args, environment);
  const closed = once(child, 'close');
  const died = closed.then(([status]) => {
    throw new Error(`plumbline ${args.join(' ')} ended with ${status}`);
  });
  const stop = async () => {
    child.kill();
    await closed;
  };
  try {
    const lines = createInterface({ input: child.stdout });
    const [line] = await Promise.race([once(lines, 'line'), died]);
    return { ...JSON.parse(line), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A sandbox of its own, and so limits of its own. */
export async function serveSandbox(environment: Environment = {}): Promise<ServedPlumbline> {
  const served = await servePlumbline(['serve', '--sandbox'], environment);
  return { ...served, url: `${served.url}${SANDBOX_PATH}` };
}

/** Runs a command to its end, and returns the last JSON value that it prints. */
export async function runPlumbline(
  args: readonly string[],
  environment: Environment,
  input?: Uint8Array,
) {
  const child = start(args, environment);
  child.stdin.end(input);
  const closed = once(child, 'close');
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) last = line;
  const [status] = await closed;
  if (status !== 0) throw new Error(`plumbline ${args.join(' ')} ended with ${status}`);
  return JSON.parse(last);
}

function start(args: readonly string[], environment: Environment) {
  return spawn(process.execPath, [CLI, ...args, '--json'], {
    env: { ...process.env, PLUMBLINE_PORT: '0', PLUMBLINE_LOG_LEVEL: 'warn', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}
