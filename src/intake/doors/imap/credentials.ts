import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { describeSystemError } from '../../../domain/system-error.ts';
import { toLogText } from '../log-text.ts';
import { DoorFault } from './fault.ts';
import type { Credentials } from './options.ts';

const COMMAND_TIMEOUT_MS = 30_000;
const MAX_TOKEN_BYTES = 16 * 1024;
/** Tokens are printable ASCII without spaces (RFC 6750). Anything else is a message of the program. */
const TOKEN = /^[\x21-\x7e]+$/;

/** Reads the credentials for one connection. Throws a DoorFault, which never contains them. */
export async function readCredentials(
  given: Credentials,
): Promise<{ readonly pass: string } | { readonly accessToken: string }> {
  const { password, passwordFile, tokenCommand } = given;
  if (tokenCommand !== undefined) return { accessToken: await runTokenCommand(tokenCommand) };
  return { pass: password ?? (await readPassword(passwordFile ?? '')) };
}

/** The first line of the file. */
async function readPassword(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).split(/\r?\n/, 1)[0] ?? '';
  } catch (error) {
    throw new DoorFault(`The password file cannot be read: ${describeSystemError(error)}.`, {
      isRefused: true,
    });
  }
}

/** Without a shell: nothing in the text is expanded, and quotes have no meaning. */
function runTokenCommand(command: string): Promise<string> {
  const [program = '', ...args] = command.split(/\s+/).filter((word) => word !== '');
  const options = { timeout: COMMAND_TIMEOUT_MS, maxBuffer: MAX_TOKEN_BYTES, windowsHide: true };
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      const token = stdout.trim();
      if (error === null && TOKEN.test(token)) resolve(token);
      else reject(toFault(error, stderr));
    });
    child.stdin?.end();
  });
}

function toFault(error: Error | null, stderr: string): DoorFault {
  const isOwn = error !== null && 'code' in error && typeof error.code === 'string';
  const why = isOwn
    ? describeSystemError(error)
    : error === null
      ? 'it printed no token'
      : `it failed${stderr === '' ? '' : `: ${toLogText(stderr.trim())}`}`;
  return new DoorFault(`The token command gives no token: ${why}.`, { isRefused: true });
}
