import { ConfigError } from '../../config/variable.ts';
import { Failure } from '../../domain/failure.ts';
import { describeSystemError } from '../../domain/system-error.ts';
import { type OutputOptions, printJson, tell } from './output.ts';

/** Exit statuses; `program.ts` has them all. */
const [FAILED, MISUSED] = [1, 2];

/** Arguments and options that do not go together. commander finds all other wrong usage by itself. */
export class UsageError extends Failure {
  constructor(message: string) {
    super('validation_error', message);
  }
}

/** Prints the error, and returns the exit status. */
export function reportError(error: unknown, { json }: OutputOptions): number {
  const isKnown = error instanceof Failure || error instanceof ConfigError;
  const code = error instanceof Failure ? error.code : 'failed';
  if (json) printJson({ error: { code, message: (error as Error).message } });
  tell(isKnown ? error.message : describe(error));
  return error instanceof ConfigError || error instanceof UsageError ? MISUSED : FAILED;
}

/** Errors of the system (no space, address in use) are a sentence; defects are printed with their stack. */
function describe(error: unknown): string {
  const { code, message, stack, syscall, path, address, port, hostname } = error as SystemError;
  if (syscall === undefined || code === undefined) return stack ?? message;
  const why = describeSystemError(error);
  if (syscall === 'getaddrinfo') return `There is no host ${hostname} (PLUMBLINE_HOST).`;
  if (syscall !== 'listen') return `${path ?? syscall}: ${why}.`;
  const elsewhere = 'Set PLUMBLINE_PORT, or PLUMBLINE_HOST, to serve elsewhere';
  const advice: Record<string, string> = {
    EADDRINUSE: `${elsewhere}; servers of one user share a port when each of them has PLUMBLINE_SHARE_PORT=on`,
    ENOTSUP: 'Leave PLUMBLINE_SHARE_PORT out',
  };
  return `The server cannot listen on ${address} port ${port}: ${why}. ${advice[code] ?? elsewhere}.`;
}

interface SystemError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}
