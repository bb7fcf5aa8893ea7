import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { measurePrune, prune } from '../jobs/retention.ts';
import { type Flags, hint, printResult, tellOfSpace, toMb } from './output/output.ts';
import { withStore } from './with-store.ts';

const HELP = `
PLUMBLINE_KEEP_REPORTS_DAYS, …_ORIGINALS_DAYS and …_AUDIT_DAYS say how long reports, the bytes in which they came, and
what the audit says are kept; without them, for ever. serve and work prune each hour. Reports and originals go by the
day on which the report's window begins.`;

/** Where reports are small, the rows are most of it, and take less than that. */
const toEstimate = (bytes: number) =>
  `${toMb(bytes)} by estimate: contents, and 2 KiB of rows and indexes for each`;

export function define(command: Command): void {
  command
    .option('--dry-run', 'only say what would go')
    .addHelpText('after', HELP)
    .action(async ({ dryRun = false, ...output }: Flags<'dryRun'>) => {
      const { kept, backups } = readConfig(process.env);
      if (Object.values(kept).every((days) => days === undefined))
        hint('Everything is kept for ever: none of the variables is set.', output);
      await withStore(async ({ db }) => {
        const now = () => new Date();
        const mayGoOn = async () => true;
        const deps = { db, kept, now, mayGoOn, backupFolder: backups?.folder };
        if (dryRun) {
          const measured = await measurePrune(deps);
          const { reports, bytes, originals, originalBytes, auditEntries } = measured;
          const lines = [
            `Reports that would go: ${reports}, with ${toEstimate(bytes)}.`,
            `Originals that would go: ${originals}, with ${toMb(originalBytes)}, some of them with their reports.`,
            `Entries of the audit that would go: ${auditEntries}.`,
          ];
          printResult(measured, lines, output);
          return;
        }
        const pruned = await prune(deps);
        const { reports, bytes, originals, originalBytes, auditEntries, fileBytes } = pruned;
        const lines = [
          `Reports that went: ${reports}, with ${toEstimate(bytes)}.`,
          `Originals that went before their reports: ${originals}, with ${toMb(originalBytes)}.`,
          `Entries of the audit: ${auditEntries}.`,
        ];
        printResult(pruned, lines, output);
        tellOfSpace(fileBytes, output);
      });
    });
}
