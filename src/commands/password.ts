import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Failure } from '../domain/failure.ts';
import { tell } from './output/output.ts';

/** A new password: read from standard input when that is requested, else typed twice on the terminal. */
export async function readNewPassword(isFromStdin: boolean): Promise<string> {
  if (isFromStdin) return (await text(process.stdin)).replace(/\r?\n$/, '');
  if (!process.stdin.isTTY) {
    throw new Failure(
      'validation_error',
      'There is no terminal to ask for a password: use --password-stdin or --invite.',
    );
  }
  const password = await ask('Password: ');
  if ((await ask('The same again: ')) !== password) {
    throw new Failure('validation_error', 'The two passwords are not the same.');
  }
  return password;
}

/** Asks on the terminal, and does not show what is typed. */
async function ask(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  process.stderr.write(question);
  try {
    return await lines.question('');
  } finally {
    lines.close();
    tell('');
  }
}
