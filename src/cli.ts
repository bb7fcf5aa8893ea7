#!/usr/bin/env node
import { CommanderError } from 'commander';
import { createProgram, toArguments } from './commands/program.ts';

/** Exit statuses: 0 done, 1 rejected or failed, 2 wrong usage. */
const MISUSED = 2;

try {
  await createProgram().parseAsync(toArguments(process.argv.slice(2)), { from: 'user' });
} catch (error) {
  process.exitCode = await report(error);
}

async function report(error: unknown): Promise<number> {
  // commander has printed the error, or the help that was requested.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : MISUSED;
  const { reportError } = await import('./commands/report-error.ts');
  return reportError(error);
}
