import type { Command } from 'commander';
import type { Logger } from 'pino';
import { createLookUp } from '../alerts/dns-lookup.ts';
import { watchDns } from '../alerts/dns-watch.ts';
import { scheduleAlerts } from '../alerts/schedule.ts';
import { type Config, readConfig } from '../config.ts';
import { createLog } from '../log.ts';
import { type RunningServer, startServer } from '../main.ts';
import { listAccounts } from '../store/accounts.ts';
import { openStore, type Store } from '../store/open.ts';
import { type OutputOptions, print, printJson } from './output.ts';

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('Serve the API until the process is told to stop.')
    .action(async (options: OutputOptions) => {
      const config = readConfig(process.env);
      const store = await openStore(config.database);
      const { url } = await serveUntilStopped(config, store);
      if (options.json) {
        printJson({ url });
        return;
      }
      print(`Plumbline listens on ${url}`);
      if ((await listAccounts(store.db)).length === 0) print(toFirstSteps(config.database));
    });
}

/** Serves a store, and closes it, once, when SIGTERM or SIGINT asks for it and the last answer is out. */
export async function serveUntilStopped(config: Config, store: Store): Promise<RunningServer> {
  const log = createLog(config.logLevel);
  const server = await startServer(config, { store, log });
  const stopAlerts = startAlerts(config, { store, log });
  let isStopping = false;
  const stop = async () => {
    // npm passes a signal on that the terminal has sent already.
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

/** Evaluates alerts each hour, and watches DNS when that is wanted. */
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

function toFirstSteps(database: string): string {
  return `
The database ${database} is empty. To get data into it, in another terminal:

  npx plumbline account create "My company"      prints the account's id
  npx plumbline domain add <account-id> example.com
  npx plumbline key create <account-id> "First key"
  npx plumbline ingest <files and folders with DMARC aggregate reports>

Or stop this, and look around with made-up data: npm run demo
`;
}
