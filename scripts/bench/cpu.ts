import { type ChildProcess, fork } from 'node:child_process';

/** In a measured process: sends its URL, and then, on request, the CPU time that it has used. */
export function answerCpu(url: string): void {
  process.on('message', () => process.send?.(process.cpuUsage()));
  process.on('disconnect', () => process.exit());
  process.send?.(url);
}

/** A server in a process of its own. */
export interface Measured {
  readonly url: string;
  /** Microseconds of CPU, user and system, since the process began. */
  readonly cpuMicros: () => Promise<number>;
  readonly stop: () => void;
}

/** Starts a script that calls `answerCpu`. */
export async function startMeasured(script: string, env: NodeJS.ProcessEnv): Promise<Measured> {
  const child = fork(new URL(script, import.meta.url), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const url = (await nextMessage(child)) as string;
  const cpuMicros = async () => {
    child.send('cpu');
    const { user, system } = (await nextMessage(child)) as NodeJS.CpuUsage;
    return user + system;
  };
  return { url, cpuMicros, stop: () => child.disconnect() };
}

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (code: number) => reject(new Error(`A measured process ended with ${code}.`));
    child.once('exit', fail);
    child.once('message', (message) => {
      child.off('exit', fail);
      resolve(message);
    });
  });
}
