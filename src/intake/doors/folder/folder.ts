import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_INCOMING_BYTES, type MailResult } from '../../../domain/incoming.ts';
import { toInstant } from '../../../domain/instant.ts';
import { toSizeText } from '../../../domain/size.ts';
import { isPseudoFolder } from '../../inputs/pseudo-file-system.ts';
import { inGroups } from '../in-groups.ts';
import { toPathText, toSystemPath } from './byte-path.ts';
import { chooseFiles, type Files, pooledFiles } from './files.ts';
import { type KnownFile, KnownFiles } from './known-files.ts';
import { createMoves, type FolderKind, type Moves } from './move.ts';
import { MAX_IN_INBOX, toReason, type Watch } from './watch.ts';
import {
  Changed,
  findStats,
  readFileBytes,
  SETTLED_MS,
  toAgeMs,
  toWatched,
  type WatchedFile,
} from './watched-file.ts';

/** Files that are looked at together. */
const BATCH = 100;
/** Listing a name takes a microsecond. */
const LIST_MS_PER_NAME = 0.2;
/** Names of files that programs are still writing, by habit; and hidden files. */
const UNFINISHED = /^\.|\.(?:tmp|part|partial|crdownload|filepart)$|~$/i;
const TOO_LARGE = new Error(`it is larger than ${toSizeText(MAX_INCOMING_BYTES)}`);
const TOO_MANY = new Error(
  'it has more files than can be known at once, and the others are not read; move files that are done',
);

const MOVE_CURE =
  'let this user write to the folder and to those in it, or set PLUMBLINE_WATCH_DONE=leave';

export interface FolderPlace {
  /** A byte path. */
  readonly path: string;
  readonly kind: FolderKind;
}

type Found = readonly [name: string, file: WatchedFile];
type Results = ReadonlyMap<string, MailResult>;

/** The files of a folder, by names as byte paths. Only regular files in the folder itself count. */
export class Folder {
  readonly path: string;
  readonly #watch: Watch;
  readonly #kind: FolderKind;
  readonly #known: KnownFiles;
  /** Files in the inbox that were not tried yet. */
  readonly #waiting = new Map<string, WatchedFile>();
  /** A file that the inbox could not store, and why. */
  #unstored: { readonly name: string; readonly why: string } | undefined;
  #listAtMs = 0;
  #files: Files = pooledFiles;

  constructor(watch: Watch, { path, kind }: FolderPlace) {
    this.#watch = watch;
    this.path = path;
    this.#kind = kind;
    this.#known = new KnownFiles(watch.pollMs);
  }

  /** Whether the inbox will soon have read some. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Why the inbox does not store. */
  get fault(): string | undefined {
    return this.#unstored?.why;
  }

  /** Files what the inbox has read, and lists the folder when it is time. Throws when one of both cannot be done. */
  async refresh(): Promise<void> {
    await this.#finishRead();
    if (performance.now() >= this.#listAtMs) await this.#list();
    this.#known.collectDue();
  }

  /** Looks at some files. Returns whether more can be looked at now. */
  async look(): Promise<boolean> {
    if (this.#waiting.size >= MAX_IN_INBOX) return false;
    await this.#take(this.#known.takeDue(BATCH));
    return this.#known.hasDue && this.#unstored === undefined;
  }

  async #list(): Promise<void> {
    const path = toSystemPath(this.path);
    if (await isPseudoFolder(path)) throw new Error('it is in a file system of the kernel');
    // Another file system may have been mounted since.
    this.#files = await chooseFiles(path);
    // Names alone: with types, Node would look at each file where the file system does not tell its type.
    const names = await readdir(path, { encoding: 'latin1' });
    this.#listAtMs =
      performance.now() + Math.max(this.#watch.pollMs, names.length * LIST_MS_PER_NAME);
    let isFull = false;
    for (const name of names) if (!UNFINISHED.test(name)) isFull = !this.#known.add(name) || isFull;
    const folder = toPathText(this.path);
    // While files are read and moved, others get their places.
    if (isFull && !this.#known.hasDue) this.#watch.left.add(folder, TOO_MANY);
    else this.#watch.left.delete(folder);
  }

  async #finishRead(): Promise<void> {
    const waiting = [...this.#waiting];
    const results = await this.#watch.findResults(waiting.map(([, file]) => file.key));
    const read = waiting.filter(([, file]) => results.get(file.key) !== 'waiting');
    for (const [name] of read) {
      this.#waiting.delete(name);
      this.#known.rest(name);
    }
    await this.#finishAll(read, results);
  }

  /** Files without a result are left. */
  async #finishAll(files: readonly Found[], results: Results): Promise<void> {
    const moves = createMoves(this.#files, this.#kind);
    await inGroups(files, async (found) => {
      const result = results.get(found[1].key);
      if (result !== undefined) await this.#finish(found, result, moves);
    }).finally(moves.end);
  }

  async #take(names: readonly string[]): Promise<void> {
    const files: Found[] = [];
    await inGroups(names, async (name) => {
      const file = await this.#findSettled(name);
      if (file !== undefined) files.push([name, file]);
    });
    const results = await this.#watch.findResults(files.map(([, file]) => file.key));
    await this.#finishAll(files, results);
    const added = files.filter(([, file]) => !results.has(file.key));
    for (const [name] of added) this.#known.lookSoon(name);
    // While the database does not store, one file is tried at a time.
    const tried = this.#unstored === undefined ? added : added.slice(0, 1);
    await inGroups(tried, ([name, file]) => this.#deliver(name, file)).catch(() => undefined);
  }

  /** undefined when the file is done, is not settled, or is no regular file. */
  async #findSettled(name: string): Promise<WatchedFile | undefined> {
    try {
      const path = join(this.path, name);
      const stats = await findStats(this.#files, path);
      if (stats === undefined) return this.#forget(name);
      const file = stats.isFile() ? toWatched(path, stats) : undefined;
      const known = this.#known.note(name, file === undefined ? '' : file.state);
      if (file === undefined || known.isDone) return undefined;
      return this.#isSettled(file, known) ? file : undefined;
    } catch (error) {
      this.#leave(name, error);
      return undefined;
    }
  }

  /** Judges by the clock of the file system. When it is ahead of ours, the file has to be in the same state for the time. */
  #isSettled(file: WatchedFile, known: KnownFile): boolean {
    const nowMs = performance.now();
    const restMs = SETTLED_MS - Math.max(toAgeMs(file), nowMs - known.sinceMs);
    if (restMs <= 0) return true;
    known.lookAtMs = nowMs + restMs;
    return false;
  }

  /** Throws when the inbox does not store: the files after this one need not be tried. */
  async #deliver(name: string, file: WatchedFile): Promise<void> {
    if (this.#watch.signal.aborted) return;
    const { deliver, door, now } = this.#watch;
    if (file.size > MAX_INCOMING_BYTES) return this.#leave(name, TOO_LARGE);
    try {
      const kind = this.#kind === 'drop' ? 'file' : undefined;
      const envelope = { place: toPathText(file.path), kind } as const;
      const receivedAt = toInstant(now());
      const bytes = readFileBytes(this.#files, file);
      await deliver({ door, key: file.key, envelope, receivedAt, bytes });
      this.#wait(name, file);
    } catch (error) {
      if (error instanceof Changed) return;
      if ((error as { code?: string }).code !== 'unavailable') return this.#leave(name, error);
      this.#unstored = { name, why: toReason(error) };
      throw error;
    }
  }

  #leave(name: string, error: unknown): void {
    this.#known.rest(name);
    this.#watch.left.add(this.#toText(name), error);
  }

  async #finish([name, file]: Found, result: MailResult, { move }: Moves): Promise<void> {
    if (result === 'waiting') return this.#wait(name, file);
    // It is tried again hours later, perhaps, and asked for as if it were done.
    if (result === 'delayed' || result === 'stuck') return;
    try {
      const isMoved = this.#watch.done === 'move' && (await move(file, result));
      if (isMoved) return this.#forget(name);
      this.#known.end(name, file.state);
      this.#watch.left.delete(this.#toText(name));
    } catch (error) {
      if (error instanceof Changed) return this.#known.lookSoon(name);
      // Nothing is lost: what it has is stored.
      const text = `it was read, and cannot be moved (${toReason(error)}); ${MOVE_CURE}`;
      this.#leave(name, new Error(text));
    }
  }

  #wait(name: string, file: WatchedFile): void {
    this.#waiting.set(name, file);
    this.#unstored = undefined;
    this.#watch.left.delete(this.#toText(name));
    this.#known.hold(name);
  }

  #forget(name: string): undefined {
    if (this.#unstored?.name === name) this.#unstored = undefined;
    this.#known.delete(name);
    this.#watch.left.delete(this.#toText(name));
  }

  #toText(name: string): string {
    return toPathText(join(this.path, name));
  }
}
