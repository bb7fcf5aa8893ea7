import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Logger } from 'pino';
import { serveCounters } from '../../http/counters/primary.ts';

/** Between the end of a process and its replacement; doubled each time when it ends soon again. */
const MIN_DELAY_MS = 100;
const MAX_DELAY_MS = 30_000;
/** A process that ran for this long did not end because it cannot start. */
const STABLE_MS = 10_000;
/** How long a process may take to stop. The server itself takes ten seconds at most. */
const STOP_TIMEOUT_MS = 15_000;

export interface KeptProcess {
  /** Ends the process in an orderly way, or after a time limit, and waits until it has ended. */
  readonly stop: () => Promise<void>;
}

/** Starts a process of this program with the arguments of a command. It ends when this process does. */
export function forkProcess(args: readonly string[], log: Logger): Worker {
  // Each process accepts connections itself. If this one accepted and distributed them, which is node's default,
  // one that it gave to a process that had just ended would neither be answered nor closed.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ args: [...args] });
  const worker = cluster.fork();
  serveCounters(worker);
  // Without a listener, a process that cannot be started or told something would end this one.
  worker.on('error', (error) => log.error({ err: error }, 'a process cannot be reached'));
  return worker;
}

interface Given {
  readonly args: readonly string[];
  readonly log: Logger;
  /** The process, when it runs already. */
  readonly started?: Worker;
}

/** Keeps one process running: when it ends, another one takes its place. */
export function keepProcess({ args, log, started }: Given): KeptProcess {
  let isStopping = false;
  let delayMs = MIN_DELAY_MS;
  let timer: NodeJS.Timeout | undefined;
  let worker = watch(started ?? forkProcess(args, log));

  function watch(watched: Worker): Worker {
    const startedAt = performance.now();
    void hasEnded(watched).then(() => {
      const { exitCode: status, signalCode: signal } = watched.process;
      if (isStopping) return;
      delayMs = performance.now() - startedAt > STABLE_MS ? MIN_DELAY_MS : nextDelay(delayMs);
      log.error({ ended: watched.process.pid, status, signal, delayMs }, 'a process is replaced');
      timer = setTimeout(() => {
        worker = watch(forkProcess(args, log));
      }, delayMs);
    });
    return watched;
  }
  return {
    stop: async () => {
      isStopping = true;
      clearTimeout(timer);
      await end(worker);
    },
  };
}

function nextDelay(delayMs: number): number {
  return Math.min(2 * delayMs, MAX_DELAY_MS);
}

/** Also when it could not be started at all. */
async function hasEnded(worker: Worker): Promise<void> {
  if (worker.process.pid !== undefined && !worker.isDead()) await once(worker.process, 'exit');
}

async function end(worker: Worker): Promise<void> {
  const ended = hasEnded(worker);
  worker.process.kill('SIGTERM');
  const deadline = setTimeout(() => worker.process.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(deadline);
}
