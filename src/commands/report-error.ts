import { ConfigError } from '../config.ts';
import { Failure } from '../domain/failure.ts';
import { printJson, tell } from './output.ts';

/** Exit statuses; `cli.ts` has them all. */
const [FAILED, MISUSED] = [1, 2];

/** Prints why a command failed, and returns the exit status. */
export function reportError(error: unknown): number {
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
