import { type ChildProcess, fork, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** What a server has used so far. */
export interface Usage {
  /** Microseconds of CPU, user and system, of all its threads. */
  readonly micros: number;
  /** Resident memory. */
  readonly megabytes: number;
}

/** A server in a process of its own. */
export interface Measured {
  readonly pid: number;
  readonly url: string;
  readonly usage: () => Promise<Usage>;
  readonly stop: () => void;
}

/** In a measured process: sends its URL, and then, on request, what it has used. */
export function answerCpu(url: string): void {
  process.on('message', () => process.send?.(toUsage()));
  process.on('disconnect', () => process.exit());
  process.send?.(url);
}

function toUsage(): Usage {
  const { user, system } = process.cpuUsage();
  return { micros: user + system, megabytes: process.memoryUsage.rss() / 2 ** 20 };
}

/** Starts a script that calls `answerCpu`. */
export async function startMeasured(script: string, env: NodeJS.ProcessEnv): Promise<Measured> {
  const child = fork(new URL(script, import.meta.url), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const died = rejectOnExit(child);
  const nextMessage = () =>
    Promise.race([new Promise((resolve) => child.once('message', resolve)), died]);
  const url = (await nextMessage()) as string;
  const usage = async () => {
    child.send('usage');
    return (await nextMessage()) as Usage;
  };
  return { pid: child.pid ?? 0, url, usage, stop: () => child.disconnect() };
}

/** Starts any program that prints its URL as its first line. Linux tells what it uses. */
export async function startProgram(
  [command = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Measured> {
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const died = rejectOnExit(child);
  const url = await Promise.race([readLine(child), died]);
  const pid = child.pid ?? 0;
  const usage = async () => readUsage(pid);
  return { pid, url, usage, stop: () => child.kill() };
}

async function readLine({ stdout }: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: stdout as NodeJS.ReadableStream })) return line;
  return '';
}

/** What Linux knows of a process: clock ticks have 10 ms; pages have 4 KiB. */
export function readUsage(pid: number): Usage {
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ');
  const fields = rest.split(' ').map(Number);
  const [user = 0, system = 0] = fields.slice(11, 13);
  return { micros: (user + system) * 10_000, megabytes: (fields[21] ?? 0) / 256 };
}

function rejectOnExit(child: ChildProcess): Promise<never> {
  const died = new Promise<never>((_resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`A measured process ended with ${code}.`)));
  });
  // Nobody waits for a process that was stopped.
  died.catch(() => undefined);
  return died;
}
