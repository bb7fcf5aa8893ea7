import cluster from 'node:cluster';
import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { createLog } from '../http/log.ts';
import { startJobs } from '../jobs/jobs.ts';
import { hint, type OutputOptions, print, printJson } from './output/output.ts';
import { openLogged } from './serving/open-logged.ts';
import { stopOnSignal } from './serving/stop-on-signal.ts';
import { warnOfLooseMode } from './with-store.ts';

/** It listens on no port: another process takes over the work of one that does not respond. */
export function defineWork(command: Command): void {
  command.action(async (options: OutputOptions) => {
    const config = readConfig(process.env);
    const log = createLog(config.logLevel);
    const store = await openLogged(config, log, { mustExist: true });
    if (cluster.isPrimary) warnOfLooseMode(config.database, (text) => log.warn(text));
    const jobs = startJobs(config, { store, log });
    stopOnSignal(log, async () => {
      await jobs.stop();
      await store.close();
    });
    if (options.json) printJson({ jobs: jobs.names });
    else if (!options.quiet) print(`Plumbline works on: ${jobs.names.join(', ')}`);
    if (jobs.names.includes('dns')) return;
    hint('DNS records are not checked: PLUMBLINE_DNS_CHECKS is off.', options);
  });
}
