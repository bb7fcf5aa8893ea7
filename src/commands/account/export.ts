import { closeSync, linkSync, lstatSync, openSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { describeSystemError } from '../../domain/system-error.ts';
import { findAccountId } from '../../store/domains/find-by-name.ts';
import { hint, type OutputOptions } from '../output/output.ts';
import { withStore } from '../with-store.ts';

type Write = (text: string) => void;

export async function exportOne(
  account: string,
  to: string | undefined,
  output: OutputOptions,
): Promise<void> {
  const { exportAccount, FIRST_LINE, toLastLine } = await import(
    '../../store/leaving/account-export.ts'
  );
  await withStore(async ({ db, reader }) => {
    const id = await findAccountId(db, account);
    let rows = 0;
    const writeLines = async (write: Write) => {
      const flush = toLines(write);
      flush.add(FIRST_LINE);
      rows = await exportAccount(reader, id, flush.add);
      flush.add(toLastLine(rows));
      flush.end();
    };
    if (to === undefined) await writeLines((text) => process.stdout.write(text));
    else await writeFile(resolve(to), writeLines);
    hint(`Rows that were exported: ${rows}.`, output);
  });
}

/** Lines are written in one go, so that a report of a million records needs no more memory than its rows. */
const CHARS_AT_ONCE = 64 * 1024;

function toLines(write: Write) {
  let waiting = '';
  const end = () => {
    write(waiting);
    waiting = '';
  };
  const add = (line: string) => {
    waiting += `${line}\n`;
    if (waiting.length > CHARS_AT_ONCE) end();
  };
  return { add, end };
}

/** A new file, which has its name when it is whole. */
async function writeFile(path: string, work: (write: Write) => Promise<void>): Promise<void> {
  const { makeWholeFile } = await import('../../store/engine/sqlite/whole-file.ts');
  // A link that leads nowhere is in the way, too.
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined)
    throw toRefusal(path, { code: 'EEXIST' });
  const fill = async (part: string) => {
    const file = openSync(part, 'r+');
    try {
      await work((text) => writeFileSync(file, text));
    } finally {
      closeSync(file);
    }
  };
  await makeWholeFile(path, fill, (part) => {
    try {
      linkSync(part, path);
    } catch (error) {
      throw toRefusal(path, error);
    }
  });
}

const toRefusal = (path: string, error: unknown) =>
  new Failure('conflict', `${path} cannot be made: ${describeSystemError(error)}.`);
