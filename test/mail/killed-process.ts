import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import type { MailProcessOptions } from './mail-process.ts';

/** One process after another, each until it is killed. The next one is loaded while the last one works. */
export class KilledProcess {
  readonly #options: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #all = new Set<ChildProcess>();
  #next: Promise<ChildProcess>;
  #current: ChildProcess | undefined;

  /** Compiled code is kept in the folder. */
  constructor(options: MailProcessOptions, folder: string) {
    this.#options = JSON.stringify(options);
    this.#env = { ...process.env, NODE_COMPILE_CACHE: folder };
    this.#next = this.#load();
    onTestFinished(() => {
      for (const child of this.#all) child.kill('SIGKILL');
    });
  }

  async #load(): Promise<ChildProcess> {
    const script = new URL('./mail-process.ts', import.meta.url);
    const child = fork(script, [this.#options], {
      execArgv: ['--no-warnings'],
      env: this.#env,
    });
    this.#all.add(child);
    child.once('exit', () => this.#all.delete(child));
    await expectMessage(child, 'loaded');
    return child;
  }

  /** Resolves when the doors are open. */
  async begin(): Promise<void> {
    this.#current = await this.#next;
    const open = expectMessage(this.#current, 'open');
    this.#current.send('begin');
    await open;
    this.#next = this.#load();
    // Whoever begins it sees why it does not start.
    this.#next.catch(() => undefined);
  }

  /** Throws when it has ended before. */
  async kill(): Promise<void> {
    const child = this.#current;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null)
      throw new Error(`The process ended by itself: ${child?.exitCode} ${child?.signalCode}`);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}

async function expectMessage(child: ChildProcess, wanted: string): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const [message] = await Promise.race([
    once(child, 'message', { signal }),
    once(child, 'exit', { signal }),
  ]).finally(() => waiting.abort());
  if (message !== wanted) throw new Error(`The process ended with ${message}, not ${wanted}.`);
}
