import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import { requireFiles } from '../../config/secret-file.ts';
import { readVersion } from '../../config/version.ts';
import { isPostgresUrl } from '../../domain/database-address.ts';
import { createLog } from '../../http/log.ts';
import { openStore } from '../../store/engine/open.ts';
import type { Store, StoreOptions } from '../../store/engine/store.ts';
import { MIGRATIONS } from '../../store/migrations/all.ts';
import { warnOfLooseFiles } from '../loose-files.ts';
import { tellInLog } from '../output/output.ts';
import { requireUsable } from './usable.ts';

/** Throws a ConfigError when a file of the configuration cannot be used that would be needed later. */
export async function openLogged(
  config: Config,
  log: Logger,
  { hasJobs, ...options }: Pick<StoreOptions, 'mustExist'> & { readonly hasJobs: boolean },
): Promise<Store> {
  tellInLog(log);
  requireFiles(process.env, { hasJobs });
  if (hasJobs) await requireUsable(config);
  const { database, databaseOptions } = config;
  const warn = (error: Error) => log.warn({ err: error }, 'a connection to the database was lost');
  return await openStore(database, { ...databaseOptions, ...options, warn, hasThread: true });
}

interface ServingOptions {
  readonly isSandbox?: boolean;
  /** Whether the process answers requests, and whether it does the other work. */
  readonly hasServer?: boolean;
  readonly hasJobs?: boolean;
  readonly log?: Logger;
}

/**
 * Opens every part or none: when one fails, those before it are closed, so that the process ends. Finishes answers and closes
 * everything on SIGTERM or SIGINT.
 */
export async function runUntilStopped(
  config: Config,
  store: Store,
  { log = createLog(config.logLevel), ...options }: ServingOptions = {},
) {
  const stops: Parameters<typeof openParts>[1] = [];
  const stop = async (delayMs?: number) => {
    for (const each of [...stops, store.close]) await each(delayMs);
  };
  try {
    const opened = await openParts(config, stops, { store, log, ...options });
    stopOnSignal(log, stop);
    const engine = isPostgresUrl(config.database) ? 'postgres' : 'sqlite';
    const schema = Object.keys(MIGRATIONS).at(-1);
    const doors = opened.jobs.filter((name) => /^(?:smtp|imap|folder)/.test(name));
    log.info({ version: readVersion(), schema, engine, ...opened, doors }, 'started');
    return opened;
  } catch (error) {
    await stop(0);
    throw error;
  }
}

/**
 * Only these processes load the server, the jobs and the metrics, whose port is the last: a monitor takes a process for well
 * that answers there.
 */
async function openParts(
  config: Config,
  stops: ((delayMs?: number) => unknown)[],
  given: ServingOptions & { readonly store: Store; readonly log: Logger },
) {
  const { isSandbox = false, hasServer = true, hasJobs = !isSandbox, ...deps } = given;
  if (!isSandbox) warnOfLooseFiles(config, (text) => deps.log.warn(text));
  const watched = isSandbox ? undefined : config.metrics;
  const metrics = watched && (await import('../../metrics/metrics.ts')).createMetrics();
  const { startServer } = hasServer ? await import('../../http/server.ts') : {};
  const server = await startServer?.(config, { ...deps, isSandbox, metrics });
  if (server) stops.push(server.stop);
  // The made-up data of a sandbox do not change: there is nothing for jobs to do.
  const { startJobs } = hasJobs ? await import('../../jobs/jobs.ts') : {};
  const { createParserProcess } = await import('../../intake/parser/parser-process.ts');
  const jobs = startJobs?.(config, { ...deps, parser: createParserProcess(), metrics });
  if (jobs) stops.push(jobs.stop);
  if (watched) {
    const { openMetricsPort } = await import('../../metrics/port.ts');
    stops.push((await openMetricsPort(config, watched, { ...deps, metrics })).stop);
  }
  return { url: server?.url ?? '', jobs: jobs?.names ?? [] };
}

/** Stops once, on the first SIGTERM or SIGINT; npm passes on a signal that the terminal has sent already. */
function stopOnSignal(log: Logger, stop: () => Promise<void>): void {
  let stopping: Promise<void> | undefined;
  const stopLogged = async () => {
    log.info('stopping');
    await stop();
    log.info('stopped');
    log.flush();
  };
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => (stopping ??= stopLogged()));
}
