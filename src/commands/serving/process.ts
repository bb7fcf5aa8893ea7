import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import { createLog } from '../../http/log.ts';
import type { OpenMetrics } from '../../metrics/port.ts';
import { openStore } from '../../store/engine/open.ts';
import type { Store, StoreOptions } from '../../store/engine/store.ts';
import { warnOfLooseFiles } from '../loose-files.ts';

export function openLogged(
  { database, databaseOptions }: Config,
  log: Logger,
  options: Pick<StoreOptions, 'mustExist'> = {},
): Promise<Store> {
  const warn = (error: Error) => log.warn({ err: error }, 'a connection to the database was lost');
  return openStore(database, { ...databaseOptions, ...options, warn, hasThread: true });
}

/** Counts, when a port for metrics is configured, and answers on it. A port that another process has is logged, and stops nothing. */
export async function openMetrics(
  config: Config,
  deps: { readonly store: Store; readonly log: Logger },
): Promise<OpenMetrics | undefined> {
  if (config.metrics === undefined) return undefined;
  const { openMetricsPort } = await import('../../metrics/port.ts');
  return await openMetricsPort(config, config.metrics, deps);
}

interface ServingOptions {
  readonly isSandbox?: boolean;
  /** Whether the process also does the work that is not answering requests. */
  readonly hasJobs?: boolean;
  readonly log?: Logger;
}

/** Finishes answers and closes the store on SIGTERM or SIGINT. Only these processes load the server and the jobs. */
export async function serveUntilStopped(
  config: Config,
  store: Store,
  { isSandbox = false, hasJobs = true, log = createLog(config.logLevel) }: ServingOptions = {},
) {
  if (!isSandbox) warnOfLooseFiles(config, (text) => log.warn(text));
  const { startServer } = await import('../../http/server.ts');
  const { startJobs } = await import('../../jobs/jobs.ts');
  const { createParserProcess } = await import('../../intake/parser/parser-process.ts');
  const counting = isSandbox ? undefined : await openMetrics(config, { store, log });
  const metrics = counting?.metrics;
  const server = await startServer(config, { store, log, isSandbox, metrics });
  // A sandbox does not evaluate alerts: after three days its made-up reports would count as missing.
  const parser = createParserProcess();
  const jobs =
    hasJobs && !isSandbox ? startJobs(config, { store, log, parser, metrics }) : undefined;
  stopOnSignal(log, async () => {
    await server.stop();
    await jobs?.stop();
    counting?.close();
    await store.close();
  });
  return server;
}

/** Stops once, on the first SIGTERM or SIGINT; npm passes on a signal that the terminal has sent already. */
export function stopOnSignal(log: Logger, stop: () => Promise<void>): void {
  let isStopping = false;
  const stopOnce = async () => {
    if (isStopping) return;
    isStopping = true;
    log.info('stopping');
    await stop();
    log.flush();
  };
  process.on('SIGTERM', stopOnce);
  process.on('SIGINT', stopOnce);
}
