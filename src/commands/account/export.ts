import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { Failure } from '../../domain/failure.ts';
import { describeSystemError } from '../../domain/system-error.ts';
import { findAccountId } from '../../store/accounts/find-by-name.ts';
import { hint, type OutputOptions } from '../output/output.ts';
import { withStore } from '../with-store.ts';

/** Lines are written in one go, so that a report of a million records needs no more memory than its rows. */
const CHARS_AT_ONCE = 64 * 1024;
/** Only who exports reads it: it holds all that the account has. */
const FILE_MODE = 0o600;

export async function exportOne(
  account: string,
  to: string | undefined,
  output: OutputOptions,
): Promise<void> {
  const { exportAccount, FIRST_LINE, toLastLine } = await import(
    '../../store/accounts/account-export.ts'
  );
  await withStore(async ({ db, reader }) => {
    const id = await findAccountId(db, account);
    const rows = await writeTo(to, async (write) => {
      write(FIRST_LINE);
      const count = await exportAccount(reader, id, write);
      write(toLastLine(count));
      return count;
    });
    hint(`Rows that were exported: ${rows}.`, output);
  });
}

/** A file that is not whole does not stay. */
async function writeTo<T>(
  to: string | undefined,
  work: (write: (line: string) => void) => Promise<T>,
): Promise<T> {
  const file = to === undefined ? undefined : open(to);
  let waiting = '';
  const flush = () => {
    if (file === undefined) process.stdout.write(waiting);
    else writeAll(file, Buffer.from(waiting));
    waiting = '';
  };
  try {
    const result = await work((line) => {
      waiting += `${line}\n`;
      if (waiting.length > CHARS_AT_ONCE) flush();
    });
    flush();
    if (file !== undefined) fsyncSync(file);
    return result;
  } catch (error) {
    if (to !== undefined) rmSync(to, { force: true });
    throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function open(path: string): number {
  try {
    return openSync(path, 'wx', FILE_MODE);
  } catch (error) {
    throw new Failure('conflict', `${path} cannot be made: ${describeSystemError(error)}.`);
  }
}

function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}
