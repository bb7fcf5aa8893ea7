import cluster from 'node:cluster';
import type { Logger } from 'pino';

/** Stops once, on the first SIGTERM or SIGINT; npm passes on a signal that the terminal has sent already. */
export function stopOnSignal(log: Logger, stop: () => Promise<void>): void {
  let isStopping = false;
  const stopOnce = async () => {
    if (isStopping) return;
    isStopping = true;
    log.info('stopping');
    await stop();
    log.flush();
    // The channel to the first process would keep this one running.
    cluster.worker?.disconnect();
  };
  process.on('SIGTERM', stopOnce);
  process.on('SIGINT', stopOnce);
}
