import type { Address, Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { Failure } from '../../domain/failure.ts';
import { forkProcess, keepProcess } from './kept-process.ts';

interface Given {
  /** How many processes answer requests. */
  readonly count: number;
  /** The command line of the process that does the other work, when there is one. */
  readonly jobs: readonly string[] | undefined;
  readonly log: Logger;
}

export interface Processes {
  readonly url: string;
  /** Lets every process finish its answers, and waits until all have ended. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts processes that serve one port, each with the command line of this one, and one that does the other
 * work. When this process ends in any way, node ends the others. Throws when the first one ends before it
 * listens, because the others would end as well.
 */
export async function startProcesses({ count, jobs, log }: Given): Promise<Processes> {
  const args = process.argv.slice(2);
  const first = forkProcess(args, log);
  const url = toUrl(await listening(first));
  const others = Array.from({ length: count - 1 }, () => keepProcess({ args, log }));
  const kept = [keepProcess({ args, log, started: first }), ...others];
  if (jobs !== undefined) kept.push(keepProcess({ args: jobs, log }));
  return {
    url,
    stop: async () => {
      await Promise.all(kept.map(({ stop }) => stop()));
    },
  };
}

/** Where the process listens. What kept it from listening, it has printed itself. */
async function listening(worker: Worker): Promise<Address> {
  const { promise, resolve, reject } = Promise.withResolvers<Address>();
  const fail = () =>
    reject(new Failure('unavailable', 'The first process ended before it was ready.'));
  worker.once('listening', resolve).once('exit', fail).once('error', reject);
  return await promise;
}

function toUrl({ address, port, addressType }: Address): string {
  return `http://${addressType === 6 ? `[${address}]` : address}:${port}`;
}
