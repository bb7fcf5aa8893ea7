/** Servers in processes of their own that tell what they use. Each prints JSON with its URL as its first line. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Usage } from './usage.ts';

const USAGE = new URL('./usage.ts', import.meta.url).href;

export interface Server {
  readonly url: string;
  readonly pid: number;
  readonly usage: () => Promise<Usage>;
  readonly stop: () => Promise<void>;
}

export async function startServer(
  [script = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Server> {
  const child = fork(script, args, {
    execArgv: ['--import', USAGE],
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  });
  const ended = once(child, 'exit');
  const died = ended.then(([code]): never => {
    throw new Error(`A measured process ended with ${code}: ${[script, ...args].join(' ')}`);
  });
  // Nobody waits for a process that was stopped.
  died.catch(() => undefined);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const [line] = await Promise.race([once(lines, 'line'), died]);
  const usage = async () => {
    child.send('usage');
    const [message] = await Promise.race([once(child, 'message'), died]);
    return message as Usage;
  };
  const stop = async () => {
    child.disconnect();
    await ended;
  };
  return { url: JSON.parse(line).url, pid: Number(child.pid), usage, stop };
}

/** The path of a program of the bench. */
export const toScript = (name: string) => fileURLToPath(new URL(name, import.meta.url));
