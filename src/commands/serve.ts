import cluster from 'node:cluster';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Config, MAX_PROCESSES, readConfig } from '../config/config.ts';
import type { DemoAccount } from '../demo/demo-data.ts';
import { createLog } from '../http/log.ts';
import { listAccounts } from '../store/accounts/accounts.ts';
import type { Store } from '../store/engine/open.ts';
import { toAround, toFirstSteps } from './output/first-steps.ts';
import { type OutputOptions, print, printJson } from './output/output.ts';
import { UsageError } from './output/usage-error.ts';
import { parsePostgresUrl } from './postgres-url.ts';
import type { serveUntilStopped } from './serving/one-process.ts';
import { openLogged } from './serving/open-logged.ts';
import { stopOnSignal } from './serving/stop-on-signal.ts';
import { warnOfLooseFiles } from './with-store.ts';

export function defineServe(command: Command): void {
  command
    .option('--sandbox', 'serve made-up data from memory, under one published key')
    .addOption(
      new Option(
        '--database <url>',
        'an empty PostgreSQL database for the sandbox, instead of memory',
      ).argParser(parsePostgresUrl),
    )
    .addOption(
      new Option(
        '--only <role>',
        'api: answer requests, and leave the other work to plumbline work',
      )
        .choices(['api'])
        .conflicts('sandbox'),
    )
    .addOption(
      new Option('--processes <n>', 'how many processes answer requests on one port')
        .argParser(parseProcesses)
        .conflicts('sandbox'),
    )
    .action(async (options: ServeOptions) => {
      const config = readConfig(process.env);
      if (options.database !== undefined && !options.sandbox)
        throw new UsageError(
          '--database is for --sandbox. PLUMBLINE_DATABASE names the database to serve.',
        );
      if (options.sandbox) return await serveSandbox(config, options);
      if (cluster.isWorker) return await serveShare(config);
      const count = options.processes ?? config.processes;
      if (count > 1) return await serveInProcesses(config, count, options);
      const log = createLog(config.logLevel);
      const store = await openLogged(config, log);
      const hasJobs = options.only === undefined;
      const { url } = await serve(config, store, { hasJobs, log });
      await announce(url, config, { store, options });
    });
}

function parseProcesses(text: string): number {
  const count = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MAX_PROCESSES) return count;
  throw new InvalidArgumentError(`It must be 1 to ${MAX_PROCESSES}.`);
}

interface ServeOptions extends OutputOptions {
  readonly sandbox?: boolean;
  readonly database?: string;
  readonly only?: 'api';
  readonly processes?: number;
  readonly config?: string;
}

/** The server is loaded only by processes that serve. */
const serve: typeof serveUntilStopped = async (...given) =>
  await (await import('./serving/one-process.ts')).serveUntilStopped(...given);

/** Prints where the server listens, and for an empty database what to do first. */
async function announce(
  url: string,
  { database }: Config,
  { store, options }: { readonly store: Store; readonly options: ServeOptions },
): Promise<void> {
  if (options.json) {
    printJson({ url });
    return;
  }
  print(`Plumbline listens on ${url}`);
  const isEmpty = (await listAccounts(store.db)).length === 0;
  if (isEmpty && !options.quiet)
    print(toFirstSteps(database, toAround(database, process.env, options.config)));
}

/**
 * Opens the database first, so that it is migrated once and a database that cannot be used is one error.
 */
async function serveInProcesses(
  config: Config,
  count: number,
  options: ServeOptions,
): Promise<void> {
  if (config.database === ':memory:')
    throw new UsageError('A database in memory has one process. Leave out --processes.');
  const { startProcesses } = await import('./serving/processes.ts');
  const log = createLog(config.logLevel);
  const store = await openLogged(config, log);
  try {
    warnOfLooseFiles(config, (text) => log.warn(text));
    const file = options.config === undefined ? [] : ['--config', options.config];
    const jobs = options.only === undefined ? ['work', '--quiet', ...file] : undefined;
    const { url, stop } = await startProcesses({ count, jobs, log });
    stopOnSignal(log, stop);
    await announce(url, config, { store, options });
  } finally {
    await store.close();
  }
}

/** One of several processes on one port. The first one has made the database. */
async function serveShare(config: Config): Promise<void> {
  const log = createLog(config.logLevel);
  const store = await openLogged(config, log, { mustExist: true });
  await serve(config, store, { hasJobs: false, log });
}

async function serveSandbox(config: Config, options: ServeOptions): Promise<void> {
  const { openSandbox } = await import('../demo/sandbox.ts');
  const { store, account } = await openSandbox(new Date(), options.database);
  const { url } = await serve(config, store, { isSandbox: true });
  if (options.json) printJson({ url, ...account });
  else print(renderSandbox(url, account));
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
