import { toShownUrl } from '../../../domain/database-address.ts';
import { Failure } from '../../../domain/failure.ts';

/* What to tell a person when a PostgreSQL database cannot be used: which one, why, and what to do about it. */

/** Each problem that a person can solve, by the beginning of its SQLSTATE (PostgreSQL, appendix A). */
const PROBLEMS: readonly (readonly [state: string, problem: string])[] = [
  ['28', 'refuses the user or the password'],
  ['3D000', 'does not exist: create it, with the encoding UTF8'],
  ['42501', 'gives its user too few rights: the user has to own its tables'],
  ['53100', 'cannot grow: its disk is full'],
  [
    '53300',
    'has no connection left: raise its max_connections, or use fewer (PLUMBLINE_DATABASE_CONNECTIONS)',
  ],
  ['57P03', 'is starting or stopping. Try again in a moment'],
  ['57P0', 'has ended the connection. Try again in a moment'],
  ['55P03', 'is busy. Try again in a moment'],
  ['40', 'is busy. Try again in a moment'],
  ['57014', 'took too long for a statement. Try again in a moment'],
  ['25006', 'is read-only: PLUMBLINE_DATABASE has to name the primary'],
  ['08', 'cannot be reached'],
];

const NO_PASSWORD =
  'asks for a password: set PLUMBLINE_DATABASE_PASSWORD or PLUMBLINE_DATABASE_PASSWORD_FILE';

/** A certificate whose authority is not known, by the code of OpenSSL. Node's own hint is for its options. */
const UNTRUSTED =
  /^(?:DEPTH_ZERO_)?SELF_SIGNED_CERT|^UNABLE_TO_(?:VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)/;
const UNTRUSTED_CERTIFICATE =
  'has a certificate that is not trusted: name the file of its authority as sslrootcert in the URL';

/** The beginnings of what the driver says when a connection is lost or was never made. It has no codes for that. */
const LOST = [
  'Connection terminated',
  'Connection ended',
  'Client has encountered a connection error',
  'Query read timeout',
  'timeout e',
  'The server does not support SSL',
];

/** What names the database of a move. */
export const MOVE_URL = 'the URL of the move';

/** A Failure for an error of the database that `variable` names, or of its connection; any other error as it is. */
export function toPostgresError(database: string, error: unknown, variable = 'PLUMBLINE_DATABASE') {
  if (!(error instanceof Error) || error instanceof Failure) return error;
  const problem = findProblem(error);
  if (problem === undefined) return error;
  const message = `The database ${toShownUrl(database)} ${problem} (${variable}).`;
  return new Failure('unavailable', message, { cause: error });
}

function findProblem(error: Error): string | undefined {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (error.message.includes('client password must be a string')) return NO_PASSWORD;
  if (UNTRUSTED.test(code)) return `${UNTRUSTED_CERTIFICATE} (${code})`;
  const [, known] = PROBLEMS.find(([state]) => isState(code) && code.startsWith(state)) ?? [];
  if (known !== undefined) return known;
  return isLost(error) ? `cannot be reached: ${error.message || code}` : undefined;
}

/** Whether an error is the server's or the connection's, and not that of our own code. */
export function isOfConnection(error: unknown): boolean {
  return error instanceof Error && findProblem(error) !== undefined;
}

/**
 * Whether an error says that the connection is of no more use. A statement that was prepared before another process
 * migrated the database is prepared again on a new connection: its error is 0A000, as that of each statement that the
 * server refuses, and comes from another routine of the server.
 */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = '', routine } = error as NodeJS.ErrnoException & { readonly routine?: string };
  if (isState(code)) return /^(?:08|57P0)/.test(code) || routine === 'RevalidateCachedQuery';
  const isTls = /^(?:ERR_(?:TLS|SSL)_\w+|[A-Z_]*CERT\w*)$/.test(code);
  return isTls || isOfNetwork(error) || LOST.some((start) => error.message.startsWith(start));
}

/** What the system says of a connection that was made. */
const NETWORK_CODES =
  /^(?:ECONN(?:RESET|ABORTED|REFUSED)|EPIPE|ENOTCONN|ETIMEDOUT|EHOST(?:UNREACH|DOWN)|ENET(?:UNREACH|DOWN|RESET))$/;

/** Files, child processes and questions to DNS have errors with system calls, too. */
function isOfNetwork({ code = '', syscall }: NodeJS.ErrnoException): boolean {
  // A socket file that is not there has the codes of files.
  if (syscall === 'connect' || syscall === 'getaddrinfo') return true;
  const isOfSocket = syscall === undefined || ['read', 'write', 'shutdown'].includes(syscall);
  return isOfSocket && NETWORK_CODES.test(code);
}

/** A SQLSTATE has five characters: digits and capital letters, with at least one digit. */
function isState(code: string): boolean {
  return /^(?=.*\d)[0-9A-Z]{5}$/.test(code);
}

/** Whether the same transaction may succeed when it runs again: a deadlock, or a serialization failure. */
export function isRetryable(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return code === '40P01' || code === '40001';
}
