import { existsSync, linkSync } from 'node:fs';
import { copyPages } from './copy-pages.ts';
import { makeWholeFile } from './whole-file.ts';

/**
 * Copies a database beside itself before it is migrated (`plumbline.db.before-0002-names`, by the last migration), so that
 * the version from before can be put back. Only the operator removes it. One that is there is of an earlier attempt.
 */
export async function keepBefore(path: string, migration: string): Promise<void> {
  const copy = `${path}.before-${migration}`;
  if (existsSync(copy)) return;
  await makeWholeFile(
    copy,
    (part) => copyPages(path, part),
    (part) => linkUnlessThere(part, copy),
  );
}

/** Never over a copy that another process has made meanwhile: this one may be of the migrated database. */
function linkUnlessThere(part: string, copy: string): void {
  try {
    linkSync(part, copy);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
