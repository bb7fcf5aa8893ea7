import { accessSync, constants, openSync, readSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { Failure } from '../../../domain/failure.ts';

/** SQLite would read a log beside a database into it, also one that a database of before has left. */
export function requireOwnLog(path: string): void {
  if (!statSync(`${path}-wal`, { throwIfNoEntry: false })?.size) return;
  // A connection that only reads changes nothing: it sees the number in the log, where the log has one.
  const connection = new Database(path, { readonly: true });
  const number = connection.pragma('application_id', { simple: true });
  connection.close();
  const header = Buffer.alloc(72);
  // The file stays open: closing it would end the locks of all connections that the process has to it.
  readSync(openSync(path, 'r'), header);
  if (header.readInt32BE(68) === number) return;
  throw new Failure(
    'conflict',
    `${path}-wal is the log of another database, and would damage ${path}. Move it and ${path}-shm to another folder.`,
  );
}

/** Returns what throws when changes would be lost: SQLite goes on writing to a file, or a log, that was removed. */
export function watchFiles(path: string): () => void {
  const find = () =>
    `${[path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.ino)}`;
  const known = find();
  const lost = `${path} or ${path}-wal was removed while it was open. Stop Plumbline and restore a backup.`;
  return () => {
    if (find() !== known) throw new Failure('unavailable', lost);
    // SQLite notices only when it has something to write.
    accessSync(path, constants.W_OK);
  };
}
