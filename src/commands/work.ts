import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { createLog, isJournal } from '../http/log.ts';
import { type OutputOptions, printResult } from './output/output.ts';
import { openLogged, runUntilStopped } from './serving/process.ts';

/** The process answers no requests but for its metrics. When it does not respond, its leases expire, and another process does its work. */
export function define(command: Command): void {
  command.action(async (options: OutputOptions) => {
    const config = readConfig(process.env);
    const log = createLog(config.logLevel);
    const store = await openLogged(config, log, { mustExist: true, hasJobs: true });
    const { jobs } = await runUntilStopped(config, store, { hasServer: false, log });
    if ((options.json || !options.quiet) && !isJournal(process.stdout))
      printResult({ jobs }, `Plumbline works on: ${jobs.join(', ')}`, options);
    if (jobs.includes('dns')) return;
    log.info('DNS records are not checked: PLUMBLINE_DNS_CHECKS is off');
  });
}
