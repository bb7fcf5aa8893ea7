import type { Command } from 'commander';
import type { Logger } from 'pino';
import { createLookUp } from '../alerts/dns-lookup.ts';
import { watchDns } from '../alerts/dns-watch.ts';
import { scheduleAlerts } from '../alerts/schedule.ts';
import { type Config, readConfig } from '../config.ts';
import type { DemoAccount } from '../demo/demo-data.ts';
import { createLog } from '../log.ts';
import { type RunningServer, startServer } from '../server.ts';
import { listAccounts } from '../store/accounts/accounts.ts';
import { openStore, type Store } from '../store/connection/open.ts';
import { toAround, toFirstSteps } from './output/first-steps.ts';
import { type OutputOptions, print, printJson } from './output/output.ts';
import { warnOfLooseMode } from './with-store.ts';

export function defineServe(command: Command): void {
  command
    .option('--sandbox', 'serve made-up data from memory, under one published key')
    .option('--database <url>', 'an empty PostgreSQL database for the sandbox, instead of memory')
    .action(async (options: ServeOptions) => {
      const config = readConfig(process.env);
      if (options.sandbox) return await serveSandbox(config, options);
      const store = await openStore(config.database, config.databaseOptions);
      const { url } = await serveUntilStopped(config, store);
      if (options.json) {
        printJson({ url });
        return;
      }
      print(`Plumbline listens on ${url}`);
      const isEmpty = (await listAccounts(store.db)).length === 0;
      if (isEmpty && !options.quiet)
        print(
          toFirstSteps(config.database, toAround(config.database, process.env, options.config)),
        );
    });
}

interface ServeOptions extends OutputOptions {
  readonly sandbox?: boolean;
  readonly database?: string;
  readonly config?: string;
}

async function serveSandbox(config: Config, options: ServeOptions): Promise<void> {
  const { openSandbox } = await import('../demo/sandbox.ts');
  const { store, account } = await openSandbox(new Date(), options.database);
  const { url } = await serveUntilStopped(config, store, { isSandbox: true });
  if (options.json) printJson({ url, ...account });
  else print(renderSandbox(url, account));
}

/** Serves a store. On SIGTERM or SIGINT, finishes the answers in progress and closes the store, once. */
export async function serveUntilStopped(
  config: Config,
  store: Store,
  { isSandbox = false } = {},
): Promise<RunningServer> {
  const log = createLog(config.logLevel);
  if (!isSandbox) warnOfLooseMode(config.database, (text) => log.warn(text));
  const server = await startServer(config, { store, log, isSandbox });
  // A sandbox does not evaluate alerts: after three days its made-up reports would count as missing.
  const stopAlerts = isSandbox ? async () => {} : startAlerts(config, { store, log });
  let isStopping = false;
  const stop = async () => {
    // npm passes on a signal that the terminal has sent already.
    if (isStopping) return;
    isStopping = true;
    log.info('stopping');
    await server.stop();
    await stopAlerts();
    await store.close();
    log.flush();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return server;
}

/** Evaluates alerts each hour, and checks DNS when that is configured. */
function startAlerts(
  { alertThresholds: thresholds, dnsChecks, dnsServers }: Config,
  { store, log }: { store: Store; log: Logger },
): () => Promise<void> {
  const logError = (error: unknown) => log.error({ err: error }, 'alerts could not be evaluated');
  const given = { store, thresholds, now: () => new Date(), logError };
  const schedule = scheduleAlerts(given);
  const dns = dnsChecks ? watchDns({ ...given, lookUp: createLookUp(dnsServers) }) : undefined;
  return async () => {
    await dns?.stop();
    await schedule.stop();
  };
}

function renderSandbox(url: string, { key, domains }: DemoAccount): string {
  return `
Plumbline's sandbox listens on ${url}. Its data is made up, and is created in
memory at each start. The key is published, and works in a sandbox only:

  export PLUMBLINE_BASE_URL=${url}
  export PLUMBLINE_API_KEY=${key}
  export DOMAIN_ID=${domains[0]?.id}

  curl -H "Authorization: Bearer $PLUMBLINE_API_KEY" "$PLUMBLINE_BASE_URL/v1/external/domains"

What to do with it is at ${url}/docs/getting-started

Ctrl+C ends the sandbox.
`;
}
