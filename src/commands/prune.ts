import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { measurePrune, prune } from '../jobs/retention.ts';
import { hint, type OutputOptions, printResult } from './output/output.ts';
import { withStore } from './with-store.ts';

const HELP = `
PLUMBLINE_KEEP_REPORTS_DAYS and PLUMBLINE_KEEP_AUDIT_DAYS say how long reports and what the audit says are kept; without
them, for ever. serve and work prune each hour. Of each domain the newest days stay, because alerts compare with them.`;

interface Options extends OutputOptions {
  readonly dryRun?: boolean;
}

export function define(command: Command): void {
  command
    .option('--dry-run', 'only say which reports would go')
    .addHelpText('after', HELP)
    .action(async ({ dryRun = false, ...output }: Options) => {
      const { kept, alertThresholds: thresholds } = readConfig(process.env);
      if (kept.reportsDays === undefined && kept.auditDays === undefined)
        hint('Everything is kept for ever: neither variable is set.', output);
      await withStore(async ({ db }) => {
        const now = () => new Date();
        const deps = { db, kept, thresholds, now, mayGoOn: async () => true };
        if (dryRun) {
          const { reports, bytes } = await measurePrune(deps);
          const text = `Reports that would go: ${reports}, with about ${toMb(bytes)}.`;
          printResult({ reports, bytes }, [text], output);
          return;
        }
        const pruned = await prune(deps);
        const { reports, bytes, auditEntries, fileBytes } = pruned;
        const gone = `Reports that went: ${reports}, with ${toMb(bytes)}.`;
        printResult(pruned, [`${gone} Entries of the audit: ${auditEntries}.`], output);
        hint(`The file is ${toMb(fileBytes)} smaller. What is free in it is used again.`, output);
      });
    });
}

function toMb(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`;
}
