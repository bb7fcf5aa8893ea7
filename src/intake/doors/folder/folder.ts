import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deliver, DoorName, MailResult } from '../../../domain/incoming.ts';
import { MAX_INCOMING_BYTES } from '../../../domain/incoming.ts';
import { toInstant } from '../../../domain/instant.ts';
import { toSizeText } from '../../../domain/size.ts';
import { isPseudoFolder } from '../../inputs/pseudo-file-system.ts';
import { inGroups } from '../in-groups.ts';
import { type LeftFiles, toReason } from './left-files.ts';
import { type FolderKind, moveFile } from './move.ts';
import {
  Changed,
  findFile,
  readFileBytes,
  toPathText,
  toSystemPath,
  type WatchedFile,
} from './watched-file.ts';

/** A file is taken when it has not changed for so long. */
const SETTLED_MS = 2_000;
/** Files in the inbox that were not tried yet. Others wait where they are: a file that comes alone waits for these at most. */
const MAX_IN_INBOX = 400;
/** Files that are looked at together. */
const BATCH = 100;
/** Files that are known take about 300 bytes each. */
const MAX_KNOWN = 200_000;
/** Listing a name takes a microsecond. */
const LIST_MS_PER_NAME = 0.2;
/** Looking at a file takes a hundred microseconds. */
const LOOK_MS_PER_FILE = 10;
/** Names of files that programs are still writing, by habit; and hidden files. */
const UNFINISHED = /^\.|\.(?:tmp|part|partial|crdownload|filepart)$|~$/i;
const TOO_LARGE = new Error(`it is larger than ${toSizeText(MAX_INCOMING_BYTES)}`);
const TOO_MANY = new Error(
  'it has more files than can be known at once, and the others are not read; move files that are done',
);
const MOVE_CURE =
  'let this user write to the folder and to those in it, or set PLUMBLINE_WATCH_DONE=leave';

export interface Watch {
  /** The path of a folder or a Maildir. */
  readonly path: string;
  readonly door: DoorName;
  readonly done: 'move' | 'leave';
  readonly now: () => Date;
  readonly deliver: Deliver;
  readonly findResults: (keys: readonly string[]) => Promise<ReadonlyMap<string, MailResult>>;
  readonly signal: AbortSignal;
  readonly pollMs: number;
  readonly left: LeftFiles;
}

export interface FolderPlace {
  /** A byte path. */
  readonly path: string;
  readonly kind: FolderKind;
}

interface Known {
  /** Empty until the file was looked at, and of what is no regular file. */
  key: string;
  /** Since when it is known by this key. */
  sinceMs: number;
  /** It was read in this state, and stays where it is. */
  isDone: boolean;
  /** There is nothing to do with it until all files are looked at again. */
  isAtRest: boolean;
}

type Found = readonly [name: string, file: WatchedFile];

/** The files of a folder, by names as byte paths. Only regular files in the folder itself count. */
export class Folder {
  readonly place: FolderPlace;
  readonly #watch: Watch;
  /** In the order in which they were found. */
  readonly #known = new Map<string, Known>();
  /** Files in the inbox that were not tried yet. */
  readonly #waiting = new Map<string, WatchedFile>();
  /** The names of files to look at, those that were found last at the end. */
  #due: string[] = [];
  #listAtMs = 0;
  #lookAtAllMs = 0;
  /** Why the inbox does not store. */
  fault: string | undefined;

  constructor(watch: Watch, place: FolderPlace) {
    this.#watch = watch;
    this.place = place;
  }

  /** Whether the inbox will soon have read some. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Files what the inbox has read, and lists the folder when it is time. Throws when one of both cannot be done. */
  async refresh(): Promise<void> {
    await this.#finishAll([...this.#waiting]);
    if (performance.now() >= this.#listAtMs) await this.#list();
  }

  /** Looks at some files. Returns whether more can be looked at now. */
  async look(): Promise<boolean> {
    if (this.#waiting.size >= MAX_IN_INBOX) return false;
    // Names that were found last come first, so that one does not wait for thousands.
    await this.#take(this.#due.splice(-BATCH));
    return this.#due.length > 0 && this.fault === undefined;
  }

  async #list(): Promise<void> {
    const { path } = this.place;
    if (await isPseudoFolder(toSystemPath(path)))
      throw new Error('it is in a file system of the kernel');
    // Names alone: with types, Node would look at each file where the file system does not tell its type.
    const all = await readdir(toSystemPath(path), { encoding: 'latin1' });
    const names = new Set(all.filter((name) => !UNFINISHED.test(name)));
    for (const name of this.#known.keys()) if (!names.has(name)) this.#forget(name);
    for (const name of names)
      if (this.#known.size < MAX_KNOWN && !this.#known.has(name))
        this.#known.set(name, { key: '', sinceMs: 0, isDone: false, isAtRest: false });
    if (this.#known.size < names.size) this.#watch.left.add(toPathText(path), TOO_MANY);
    else this.#watch.left.delete(toPathText(path));
    this.#collectDue(performance.now(), all.length);
  }

  #collectDue(nowMs: number, count: number): void {
    const { pollMs } = this.#watch;
    this.#listAtMs = nowMs + Math.max(pollMs, count * LIST_MS_PER_NAME);
    if (nowMs >= this.#lookAtAllMs) {
      this.#lookAtAllMs = nowMs + Math.max(pollMs, this.#known.size * LOOK_MS_PER_FILE);
      for (const known of this.#known.values()) known.isAtRest = false;
    }
    const due = this.#known.entries().filter(([name, one]) => !one.isAtRest && this.#isFree(name));
    this.#due = [...due.map(([name]) => name)];
    // A file that the inbox did not store is among them, unless it has gone.
    if (this.#due.length === 0) this.fault = undefined;
  }

  #isFree(name: string): boolean {
    return !this.#waiting.has(name);
  }

  async #take(names: readonly string[]): Promise<void> {
    const files: Found[] = [];
    await inGroups(names, async (name) => {
      const file = await this.#findSettled(name).catch((error) => this.#leave(name, error));
      if (file !== undefined) files.push([name, file]);
    });
    const added = await this.#finishAll(files);
    // While the database does not store, one file is tried at a time.
    const tried = this.fault === undefined ? added : added.slice(0, 1);
    await inGroups(tried, ([name, file]) => this.#deliver(name, file)).catch(() => undefined);
  }

  /** undefined when the file is done, is not settled, or is no regular file. */
  async #findSettled(name: string): Promise<WatchedFile | undefined> {
    const file = await findFile(join(this.place.path, name));
    const known = this.#known.get(name);
    if (known === undefined) return undefined;
    const nowMs = performance.now();
    if (known.key !== (file?.key ?? ''))
      Object.assign(known, { key: file?.key ?? '', sinceMs: nowMs, isDone: false });
    known.isAtRest = file === undefined || known.isDone;
    if (file === undefined || known.isDone) return undefined;
    // By the clock of the file system. When it is ahead of ours, the file has to be in the same state for the time.
    const ageMs = Date.now() - Math.max(file.mtimeMs, file.ctimeMs);
    return Math.max(ageMs, nowMs - known.sinceMs) >= SETTLED_MS ? file : undefined;
  }

  /** Returns the files that the inbox does not know. */
  async #finishAll(files: readonly Found[]): Promise<readonly Found[]> {
    const results = await this.#watch.findResults(files.map(([, { key }]) => key));
    for (const [name, file] of files) {
      this.#waiting.delete(name);
      const result = results.get(file.key);
      // One at a time, because each takes a free name.
      if (result !== undefined) await this.#finish(name, file, result);
    }
    return files.filter(([, { key }]) => !results.has(key));
  }

  async #finish(name: string, file: WatchedFile, result: MailResult): Promise<void> {
    if (result === 'waiting') return this.#wait(name, file);
    this.#rest(name);
    // It is tried again hours later, perhaps.
    if (result === 'delayed' || result === 'stuck') return;
    try {
      const isMoved =
        this.#watch.done === 'move' && (await moveFile(file, this.place.kind, result));
      if (isMoved) return this.#forget(name);
      const known = this.#known.get(name);
      if (known?.key === file.key) known.isDone = true;
      this.#watch.left.delete(this.#toText(name));
    } catch (error) {
      if (error instanceof Changed) return;
      // Nothing is lost: what it has is stored.
      const text = `it was read, and cannot be moved (${toReason(error)}); ${MOVE_CURE}`;
      this.#leave(name, new Error(text));
    }
  }

  /** Throws when the inbox does not store: the files after this one need not be tried. */
  async #deliver(name: string, file: WatchedFile): Promise<void> {
    const { deliver, door, now, signal } = this.#watch;
    if (signal.aborted) return;
    if (file.size > MAX_INCOMING_BYTES) return this.#leave(name, TOO_LARGE);
    try {
      const kind = this.place.kind === 'drop' ? 'file' : undefined;
      const envelope = { place: toPathText(file.path), kind } as const;
      const bytes = readFileBytes(file);
      await deliver({ door, key: file.key, envelope, receivedAt: toInstant(now()), bytes });
      this.#wait(name, file);
      this.fault = undefined;
    } catch (error) {
      if (error instanceof Changed) return;
      if ((error as { code?: string }).code !== 'unavailable') return this.#leave(name, error);
      this.fault = toReason(error);
      throw error;
    }
  }

  #wait(name: string, file: WatchedFile): void {
    this.#waiting.set(name, file);
    this.#watch.left.delete(this.#toText(name));
  }

  #leave(name: string, error: unknown): undefined {
    this.#rest(name);
    this.#watch.left.add(this.#toText(name), error);
  }

  #rest(name: string): void {
    const known = this.#known.get(name);
    if (known !== undefined) known.isAtRest = true;
  }

  #forget(name: string): void {
    this.#known.delete(name);
    this.#watch.left.delete(this.#toText(name));
  }

  #toText(name: string): string {
    return toPathText(join(this.place.path, name));
  }
}
