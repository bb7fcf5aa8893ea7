import cluster from 'node:cluster';
import { type Command, Option } from 'commander';
import { type Config, MAX_PROCESSES, readConfig } from '../config/config.ts';
import type { DemoAccount } from '../demo/demo-data.ts';
import { tellDocs } from '../http/docs.ts';
import { createLog } from '../http/log.ts';
import type { OpenMetrics } from '../metrics/port.ts';
import { listAccounts } from '../store/accounts/accounts.ts';
import type { Store } from '../store/engine/store.ts';
import { parsePostgresUrl, parseWhole } from './arguments.ts';
import { warnOfLooseFiles } from './loose-files.ts';
import { type OutputOptions, print, printResult } from './output/output.ts';
import { UsageError } from './output/report-error.ts';
import { findNaming, renderFirstSteps } from './serving/first-steps.ts';
import { openLogged, openMetrics, serveUntilStopped, stopOnSignal } from './serving/process.ts';

export function define(command: Command): void {
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
        .argParser(parseWhole(MAX_PROCESSES))
        .conflicts('sandbox'),
    )
    .action(async (options: ServeOptions) => {
      const config = readConfig(process.env);
      if (options.database !== undefined && !options.sandbox)
        throw new UsageError(
          '--database is for --sandbox. PLUMBLINE_DATABASE names the database to serve.',
        );
      const count = options.processes ?? config.processes;
      if (options.sandbox) await serveSandbox(config, options);
      else if (cluster.isPrimary && count > 1) await serveInProcesses(config, count, options);
      else await serveInThisProcess(config, options);
    });
}

interface ServeOptions extends OutputOptions {
  readonly sandbox?: boolean;
  readonly database?: string;
  readonly only?: 'api';
  readonly processes?: number;
  readonly config?: string;
}

/** Runs in the only process, or in each of several on one port: then the primary has made the database. */
async function serveInThisProcess(config: Config, options: ServeOptions): Promise<void> {
  const { isPrimary } = cluster;
  const log = createLog(config.logLevel);
  const store = await openLogged(config, log, { mustExist: !isPrimary });
  const hasJobs = isPrimary && options.only === undefined;
  const { url } = await serveUntilStopped(config, store, { hasJobs, log });
  if (isPrimary) await announce(url, config, { store, options });
}

async function announce(
  url: string,
  { database }: Config,
  { store, options }: { readonly store: Store; readonly options: ServeOptions },
): Promise<void> {
  printResult({ url }, `Plumbline listens on ${url}`, options);
  if (options.json || options.quiet || (await listAccounts(store.db)).length > 0) return;
  print(renderFirstSteps(database, findNaming(database, process.env, options.config)));
}

/** Opens the database first, so that it is migrated once and a database that cannot be used is one error. */
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
  let counting: OpenMetrics | undefined;
  try {
    warnOfLooseFiles(config, (text) => log.warn(text));
    const file = options.config === undefined ? [] : ['--config', options.config];
    const jobs = options.only === undefined ? ['work', '--quiet', ...file] : undefined;
    const { url, stop } = await startProcesses({
      count,
      jobs,
      log,
      stopDelayMs: config.stopDelayMs,
    });
    stopOnSignal(log, async () => {
      await stop();
      counting?.close();
      if (counting !== undefined) await store.close();
    });
    counting = await openMetrics(config, { store, log, isFirst: true });
    await announce(url, config, { store, options });
  } finally {
    // Metrics of the database are read for as long as it serves.
    if (counting === undefined) await store.close();
  }
}

async function serveSandbox(config: Config, options: ServeOptions): Promise<void> {
  const { openSandbox } = await import('../demo/sandbox.ts');
  const { store, account } = await openSandbox(new Date(), options.database);
  const { url } = await serveUntilStopped(config, store, { isSandbox: true });
  const docs = await tellDocs(`${url}/docs/getting-started`);
  printResult({ url, ...account }, renderSandbox(url, account, docs), options);
}

function renderSandbox(url: string, { key, domains }: DemoAccount, docs: string): string {
  return `
Plumbline's sandbox listens on ${url}. Its data is made up, and is created in
memory at each start. The key is published, and works in a sandbox only:

  export PLUMBLINE_BASE_URL=${url}
  export PLUMBLINE_API_KEY=${key}
  export DOMAIN_ID=${domains[0]?.id}

  curl -H "Authorization: Bearer $PLUMBLINE_API_KEY" "$PLUMBLINE_BASE_URL/v1/external/domains"

What to do with it is ${docs}

Ctrl+C ends the sandbox.
`;
}
