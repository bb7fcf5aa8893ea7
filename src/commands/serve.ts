import { type Command, Option } from 'commander';
import { type Config, readConfig } from '../config/config.ts';
import type { DemoAccount } from '../demo/demo-data.ts';
import { tellDocs } from '../http/docs.ts';
import { createLog, isJournal } from '../http/log.ts';
import { listAccounts } from '../store/accounts/accounts.ts';
import { parsePostgresUrl } from './arguments.ts';
import { type OutputOptions, print, printResult } from './output/output.ts';
import { UsageError } from './output/report-error.ts';
import { findNaming, renderFirstSteps } from './serving/first-steps.ts';
import { openLogged, runUntilStopped } from './serving/process.ts';

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
    .action(async (options: ServeOptions) => {
      const config = readConfig(process.env);
      if (options.database !== undefined && !options.sandbox)
        throw new UsageError(
          '--database is for --sandbox. PLUMBLINE_DATABASE names the database to serve.',
        );
      if (options.sandbox) await serveSandbox(config, options);
      else await serve(config, options);
    });
}

interface ServeOptions extends OutputOptions {
  readonly sandbox?: boolean;
  readonly database?: string;
  readonly only?: 'api';
  readonly config?: string;
}

async function serve(config: Config, options: ServeOptions): Promise<void> {
  const log = createLog(config.logLevel);
  const hasJobs = options.only === undefined;
  const store = await openLogged(config, log, { hasJobs });
  const { url } = await runUntilStopped(config, store, { hasJobs, log });
  if (isJournal(process.stdout)) return;
  printResult({ url }, `Plumbline listens on ${url}`, options);
  if (options.json || options.quiet || (await listAccounts(store.db)).length > 0) return;
  const { database } = config;
  print(renderFirstSteps(database, findNaming(database, process.env, options.config)));
}

async function serveSandbox(config: Config, options: ServeOptions): Promise<void> {
  const { openSandbox } = await import('../demo/sandbox.ts');
  const { store, account } = await openSandbox(new Date(), options.database);
  // Requests to a service that shares its port must not come here.
  const own = { ...config, sharesPort: false };
  const { url } = await runUntilStopped(own, store, { isSandbox: true });
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
