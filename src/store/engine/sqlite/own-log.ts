import { randomInt } from 'node:crypto';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { Failure } from '../../../domain/failure.ts';

/*
 * A copy that is put over a database by hand may lie beside the write-ahead log of that database, which SQLite would read
 * into it without notice. So each copy gets a number of its own, in a place that SQLite keeps for applications, the first
 * page of the file. A log that has another number in its first page is not the log of the file. One without a first page
 * cannot be told.
 */

/** Offsets of SQLite's file format: the `user_version` of page 1; of a log, its header and those of its frames. */
const NUMBER_AT = 60;
const LOG_HEADER = 32;
const FRAME_HEADER = 24;
const MAGIC = 'SQLite format 3\0';
/** Nearly every transaction that adds pages writes page 1: it is among the first. */
const MAX_FRAMES = 10_000;

export function numberCopy(copy: Database.Database): void {
  copy.pragma(`user_version = ${randomInt(1, 2 ** 31)}`);
}

/** Device and inode of files that this process has looked at. */
const seen = new Set<string>();

/**
 * Throws `conflict` before SQLite has read the log of another database. A file is looked at before the first connection
 * of the process and never again: when a process closes any descriptor of a file, POSIX drops the locks of its others,
 * SQLite's too, and another process could then remove the log. So no thread may call it beside one that has a connection.
 */
export function requireOwnLog(path: string): void {
  const { dev, ino } = statSync(path);
  const id = `${dev} ${ino}`;
  if (seen.has(id)) return;
  requireSameNumber(path, `${path}-wal`);
  seen.add(id);
}

function requireSameNumber(path: string, log: string): void {
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) <= LOG_HEADER) return;
  const number = withFile(path, (file) => findNumber(read(file, 0, NUMBER_AT + 4)));
  const found = withFile(log, findNumberInLog);
  if (number === undefined || found === undefined || found === number) return;
  throw new Failure(
    'conflict',
    `${log} is the log of another database, and would be read into ${path}, which was put there by hand. Move the log and ` +
      `${path}-shm away, if ${path} is a whole backup. “plumbline restore” does all of that.`,
  );
}

function withFile<T>(path: string, work: (file: number) => T): T {
  const file = openSync(path, 'r');
  try {
    return work(file);
  } finally {
    closeSync(file);
  }
}

function read(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, at));
}

/** undefined of what is no first page, such as an empty database. */
function findNumber(page: Buffer): number | undefined {
  const isFirst = page.length === NUMBER_AT + 4 && page.toString('latin1', 0, 16) === MAGIC;
  return isFirst ? page.readUInt32BE(NUMBER_AT) : undefined;
}

/** Another process may write to the log: frames of an earlier round have other salts, and are left out. */
function findNumberInLog(file: number): number | undefined {
  const header = read(file, 0, LOG_HEADER);
  const pageBytes = header.readUInt32BE(8);
  for (let i = 0, at = LOG_HEADER; i < MAX_FRAMES; i += 1, at += FRAME_HEADER + pageBytes) {
    const frame = read(file, at, FRAME_HEADER + NUMBER_AT + 4);
    if (frame.length < FRAME_HEADER || !isOfRound(frame, header)) return undefined;
    if (frame.readUInt32BE(0) !== 1) continue;
    const number = findNumber(frame.subarray(FRAME_HEADER));
    if (number !== undefined) return number;
  }
  return undefined;
}

const isOfRound = (frame: Buffer, header: Buffer) => frame.compare(header, 16, 24, 8, 16) === 0;
