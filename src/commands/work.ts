import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { createLog } from '../http/log.ts';
import { createParserProcess } from '../intake/parser/parser-process.ts';
import { startJobs } from '../jobs/jobs.ts';
import { warnOfLooseFiles } from './loose-files.ts';
import { hint, type OutputOptions, printResult } from './output/output.ts';
import { openLogged, openMetrics, stopOnSignal } from './serving/process.ts';

/** The process listens on no port but that of its metrics. When it does not respond, its leases expire, and another process does its work. */
export function define(command: Command): void {
  command.action(async (options: OutputOptions) => {
    const config = readConfig(process.env);
    const log = createLog(config.logLevel);
    const store = await openLogged(config, log, { mustExist: true });
    warnOfLooseFiles({ database: config.database }, (text) => log.warn(text));
    const counting = await openMetrics(config, { store, log });
    const metrics = counting?.metrics;
    const jobs = startJobs(config, { store, log, metrics, parser: createParserProcess() });
    stopOnSignal(log, async () => {
      await jobs.stop();
      counting?.close();
      await store.close();
    });
    if (options.json || !options.quiet)
      printResult({ jobs: jobs.names }, `Plumbline works on: ${jobs.names.join(', ')}`, options);
    if (jobs.names.includes('dns')) return;
    hint('DNS records are not checked: PLUMBLINE_DNS_CHECKS is off.', options);
  });
}
