import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { describeSystemError } from '../../../domain/system-error.ts';
import { lastingFault } from './fault.ts';
import type { Credentials, ImapOptions, Secrets } from './options.ts';

const COMMAND_TIMEOUT_MS = 30_000;
/** The output is there when the command has ended, or soon after. */
const OUTPUT_MS = 500;
const MAX_TOKEN_BYTES = 16 * 1024;
/** Tokens are printable ASCII without spaces (RFC 6750). Anything else is a message of the program. */
const TOKEN = /^[\x21-\x7e]+$/;

/** Throws a DoorFault, which never contains the credentials. Aborting the signal kills the token command. */
export async function readSecrets(
  { credentials, caFile }: Pick<ImapOptions, 'credentials' | 'caFile'>,
  signal: AbortSignal,
): Promise<Secrets> {
  return {
    ...(await readCredentials(credentials, signal)),
    ...(caFile && { ca: await readSecretFile(caFile, 'file of PLUMBLINE_IMAP_CA') }),
  };
}

async function readCredentials(
  { password, passwordFile = '', tokenCommand }: Credentials,
  signal: AbortSignal,
): Promise<Secrets> {
  if (tokenCommand !== undefined)
    return { accessToken: await runTokenCommand(tokenCommand, signal) };
  if (password !== undefined) return { pass: password };
  const text = await readSecretFile(passwordFile, 'password file');
  return { pass: text.split(/\r?\n/, 1)[0] ?? '' };
}

async function readSecretFile(file: string, name: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw lastingFault(`The ${name} cannot be read: ${describeSystemError(error)}.`);
  }
}

/** Runs the program without a shell: nothing in the text is expanded, and quotes have no meaning. */
async function runTokenCommand(command: string, stopping: AbortSignal): Promise<string> {
  const [program = '', ...args] = command.split(/\s+/).filter((word) => word !== '');
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(COMMAND_TIMEOUT_MS)]);
  const { output, why } = await run(program, args, signal);
  const token = output.trim();
  if (why === undefined && TOKEN.test(token)) return token;
  throw lastingFault(`The token command gives no token: ${why ?? 'it printed no token'}.`);
}

/** What the program prints, and why that does not count. Its standard error goes nowhere: it may have a secret. */
function run(program: string, args: readonly string[], signal: AbortSignal) {
  const child = spawn(program, args, {
    signal,
    killSignal: 'SIGKILL',
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  return new Promise<{ output: string; why: string | undefined }>((resolve) => {
    const end = (why?: string) => resolve({ output, why });
    child.stdout.setEncoding('latin1').on('data', (text: string) => {
      output += text;
      if (output.length <= MAX_TOKEN_BYTES) return;
      child.kill('SIGKILL');
      end('it printed too much');
    });
    const toWhy = (error: Error) =>
      signal.aborted ? 'it took too long' : describeSystemError(error);
    child.on('error', (error) => end(toWhy(error)));
    child.on('close', (code) => end(toReason(code)));
    // A program that the command has started may hold the output open for ever.
    child.on('exit', (code) => setTimeout(end, OUTPUT_MS, toReason(code)).unref());
  }).finally(() => child.stdout.destroy());
}

function toReason(code: number | null): string | undefined {
  if (code === 0) return undefined;
  return code === null ? 'it was killed' : `it failed with exit status ${code}`;
}
