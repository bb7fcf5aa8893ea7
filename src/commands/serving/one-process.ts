import cluster from 'node:cluster';
import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import { createLog } from '../../http/log.ts';
import { type RunningServer, startServer } from '../../http/server.ts';
import { startJobs } from '../../jobs/jobs.ts';
import type { Store } from '../../store/engine/open.ts';
import { warnOfLooseFiles } from '../with-store.ts';
import { stopOnSignal } from './stop-on-signal.ts';

interface Options {
  readonly isSandbox?: boolean;
  /** Whether the process also does the work that is not answering requests. */
  readonly hasJobs?: boolean;
  readonly log?: Logger;
}

/** Serves a store. On SIGTERM or SIGINT, finishes the answers in progress and closes the store, once. */
export async function serveUntilStopped(
  config: Config,
  store: Store,
  { isSandbox = false, hasJobs = true, log = createLog(config.logLevel) }: Options = {},
): Promise<RunningServer> {
  if (!isSandbox && cluster.isPrimary) warnOfLooseFiles(config, (text) => log.warn(text));
  const server = await startServer(config, { store, log, isSandbox });
  // A sandbox does not evaluate alerts: after three days its made-up reports would count as missing.
  const jobs = hasJobs && !isSandbox ? startJobs(config, { store, log }) : undefined;
  stopOnSignal(log, async () => {
    await server.stop();
    await jobs?.stop();
    await store.close();
  });
  return server;
}
