import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { openStore } from '../store/engine/open.ts';
import { type PendingStep, toDuration } from '../store/engine/pending-steps.ts';
import { type Flags, hint, printList } from './output/output.ts';

const HELP = `
Every command that opens a database migrates it when that takes seconds. What takes longer is left to this one: on
SQLite stop every process of Plumbline first; with PostgreSQL those of the older version go on. When it is interrupted,
run it again: it goes on where it was.`;

export function define(command: Command): void {
  command
    .option('--dry-run', 'only say what would be done')
    .addHelpText('after', HELP)
    .action(async ({ dryRun = false, ...output }: Flags<'dryRun'>) => {
      const { database, databaseOptions } = readConfig(process.env);
      const steps: Omit<PendingStep, 'run'>[] = [];
      const migrate = async (pending: readonly PendingStep[]) => {
        for (const { run, ...step } of pending) {
          steps.push(step);
          if (dryRun) continue;
          hint(`${step.migration} ${step.does}, which takes ${toDuration(step.seconds)}`, output);
          await run();
        }
      };
      const options = { ...databaseOptions, mustExist: true, migrate };
      await (await openStore(database, options)).close();
      const none = 'The database has the schema of this version.';
      printList(steps, { none, toColumns }, output);
    });
}

function toColumns({ migration, does, locks, seconds }: Omit<PendingStep, 'run'>) {
  return { migration, does, locks, takes: toDuration(seconds) };
}
