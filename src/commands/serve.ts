import { type Command, Option } from 'commander';
import { type Config, readConfig } from '../config/config.ts';
import { SANDBOX_DOMAIN_IDS, SANDBOX_KEY, SANDBOX_PATH } from '../domain/sandbox.ts';
import { tellDocs } from '../http/docs.ts';
import { createLog, isJournal } from '../http/log.ts';
import { listAccounts } from '../store/accounts/accounts.ts';
import { openStore } from '../store/engine/open.ts';
import { type OutputOptions, print, printResult } from './output/output.ts';
import { findNaming, renderFirstSteps } from './serving/first-steps.ts';
import { openLogged, runUntilStopped } from './serving/process.ts';

export function define(command: Command): void {
  command
    .option('--sandbox', 'serve the docs and the sandbox alone, without a database')
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
      if (options.sandbox) await serveSandbox(config, options);
      else await serve(config, options);
    });
}

interface ServeOptions extends OutputOptions {
  readonly sandbox?: boolean;
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
  // Requests to a service that shares its port must not come here, and it has no limits in common with one.
  const own = { ...config, hasSandbox: true, sharesPort: false, redis: undefined };
  // Nobody has a key or a password of an empty database.
  const { url } = await runUntilStopped(own, await openStore(':memory:'), { isSandbox: true });
  const base_url = `${url}${SANDBOX_PATH}`;
  const docs = await tellDocs(`${url}/docs/getting-started`);
  printResult({ url, base_url, key: SANDBOX_KEY }, renderSandbox(base_url, docs), options);
}

function renderSandbox(baseUrl: string, docs: string): string {
  return `
Plumbline's sandbox has the address ${baseUrl}, and made-up data in memory, which
ends with yesterday. The key is published, and works in a sandbox only:

  export PLUMBLINE_BASE_URL=${baseUrl}
  export PLUMBLINE_API_KEY=${SANDBOX_KEY}
  export DOMAIN_ID=${SANDBOX_DOMAIN_IDS['example.com']}

  curl -H "Authorization: Bearer $PLUMBLINE_API_KEY" "$PLUMBLINE_BASE_URL/v1/external/domains"

What to do with it is ${docs}

Ctrl+C ends the sandbox.
`;
}
