#!/usr/bin/env node
import { CommanderError } from 'commander';
import { printJson, tell } from './commands/output.ts';
import { createProgram } from './commands/program.ts';
import { ConfigError } from './config.ts';
import { Failure } from './domain/failure.ts';

/** Exit statuses: 0 done, 1 rejected or failed, 2 wrong usage. */
const [FAILED, MISUSED] = [1, 2];

try {
  const program = await createProgram(process.argv.slice(2));
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}

function report(error: unknown): number {
  // commander has printed the error, or the help that was requested.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : MISUSED;
  const isKnown = error instanceof Failure || error instanceof ConfigError;
  if (process.argv.includes('--json')) printJson(toJson(error));
  tell(isKnown ? error.message : describe(error));
  return error instanceof ConfigError ? MISUSED : FAILED;
}

function toJson(error: unknown) {
  const code = error instanceof Failure ? error.code : 'failed';
  return { error: { code, message: (error as Error).message } };
}

/** System errors (no space, address in use) are one line; defects are printed with their stack. */
function describe(error: unknown): string {
  const { code, message, stack } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return `${message}. Set PLUMBLINE_PORT to serve on another port.`;
  return code === undefined ? (stack ?? message) : message;
}
