import cluster, { type Address, type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Logger } from 'pino';
import { Failure } from '../../domain/failure.ts';
import { serveCounters } from '../../http/counters/primary.ts';

/** Between the end of a process and its replacement; doubled each time when it ends soon again. */
const MIN_DELAY_MS = 100;
const MAX_DELAY_MS = 30_000;
/** A process that ran for this long did not end because it cannot start. */
const STABLE_MS = 10_000;

/** How long a process may take to stop once it no longer listens. The server itself takes ten seconds at most. */
const STOP_TIMEOUT_MS = 15_000;

interface ProcessesOptions {
  readonly count: number;
  /** The command line of the process that does the other work, when there is one. */
  readonly jobs: readonly string[] | undefined;
  readonly log: Logger;
  /** How long each process goes on listening when it stops. */
  readonly stopDelayMs: number;
}

/**
 * Starts processes that serve one port, each with this one's command line, and one for the other work. Node ends them
 * when this process ends in any way. Throws when the first ends before it listens: the others would end as well.
 */
export async function startProcesses(options: ProcessesOptions) {
  const { count, jobs, log, stopDelayMs } = options;
  const args = process.argv.slice(2);
  const first = forkProcess(args, log);
  const url = toUrl(await listening(first));
  const stops = [keepProcess(args, log, first)];
  for (let i = 1; i < count; i++) stops.push(keepProcess(args, log));
  if (jobs !== undefined) stops.push(keepProcess(jobs, log));
  return {
    url,
    /** Lets every process finish its answers, and waits until all have ended. */
    stop: async () => {
      await Promise.all(stops.map((stop) => stop(stopDelayMs + STOP_TIMEOUT_MS)));
    },
  };
}

/** A process that cannot listen prints the reason itself. */
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

function forkProcess(args: readonly string[], log: Logger): Worker {
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

/** When the process ends, another one takes its place. The returned function ends it, by force after a time limit. */
function keepProcess(
  args: readonly string[],
  log: Logger,
  started = forkProcess(args, log),
): (timeoutMs: number) => Promise<void> {
  let isStopping = false;
  let delayMs = MIN_DELAY_MS;
  let timer: NodeJS.Timeout | undefined;
  let worker = watch(started);

  function watch(watched: Worker): Worker {
    const startedAt = performance.now();
    void hasEnded(watched).then(() => {
      const { exitCode: status, signalCode: signal } = watched.process;
      if (isStopping) return;
      const isStable = performance.now() - startedAt > STABLE_MS;
      delayMs = isStable ? MIN_DELAY_MS : Math.min(2 * delayMs, MAX_DELAY_MS);
      log.error({ ended: watched.process.pid, status, signal, delayMs }, 'a process is replaced');
      timer = setTimeout(() => {
        worker = watch(forkProcess(args, log));
      }, delayMs);
    });
    return watched;
  }
  return async (timeoutMs) => {
    isStopping = true;
    clearTimeout(timer);
    await end(worker, timeoutMs);
  };
}

/** Also when it could not be started at all. */
async function hasEnded(worker: Worker): Promise<void> {
  if (worker.process.pid !== undefined && !worker.isDead()) await once(worker.process, 'exit');
}

async function end(worker: Worker, timeoutMs: number): Promise<void> {
  const ended = hasEnded(worker);
  worker.process.kill('SIGTERM');
  const deadline = setTimeout(() => worker.process.kill('SIGKILL'), timeoutMs);
  await ended;
  clearTimeout(deadline);
}
