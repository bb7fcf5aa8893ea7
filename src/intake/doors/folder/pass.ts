import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { toInstant } from '../../../domain/instant.ts';
import { toSizeText } from '../../../domain/size.ts';
import { MAX_INCOMING_BYTES, type MailResult } from '../../../store/inbox/incoming.ts';
import { isPseudoFolder } from '../../inputs/pseudo-file-system.ts';
import { type FolderKind, moveDone } from './move.ts';
import { Backlog, type Watch } from './watch.ts';
import {
  Changed,
  findFile,
  readFileBytes,
  Settling,
  toKey,
  type WatchedFile,
} from './watched-file.ts';

/** Files whose state is looked up together. */
const BATCH = 100;
/** A million keys take about 150 MB. Beyond the bound the database is asked again. */
const MAX_REMEMBERED = 200_000;
/** Names of files that programs are still writing, by habit; and hidden files. */
const UNFINISHED = /^\.|\.(?:tmp|part|partial|crdownload|filepart)$|~$/i;
const TOO_LARGE = new Error(`it is larger than ${toSizeText(MAX_INCOMING_BYTES)}`);

/**
 * Goes through a folder once: delivers files that are new, and moves those that are done. Only regular files in the
 * folder itself count. Throws when the inbox cannot store; what was not delivered is found by the next pass.
 */
export function createFolderPass(
  watch: Watch,
): (folder: string, kind: FolderKind) => Promise<void> {
  /** Files that are done and stay where they are, by their keys. */
  const remembered = new Set<string>();
  const settling = new Settling();
  return async (folder, kind) => {
    if (await isPseudoFolder(folder)) throw new Error('it is in a file system of the kernel');
    const pass = new Pass(watch, { kind, remembered, settling });
    let batch: WatchedFile[] = [];
    for await (const file of listFiles(folder, watch.signal)) {
      if (remembered.has(toKey(file))) continue;
      batch.push(file);
      if (batch.length < BATCH) continue;
      await pass.take(batch);
      batch = [];
    }
    await pass.take(batch);
  };
}

async function* listFiles(folder: string, signal: AbortSignal): AsyncGenerator<WatchedFile> {
  for await (const entry of await opendir(folder, { bufferSize: BATCH })) {
    if (signal.aborted) return;
    if (!entry.isFile() || UNFINISHED.test(entry.name)) continue;
    const file = await findFile(join(folder, entry.name));
    if (file !== undefined) yield file;
  }
}

interface PassOptions {
  readonly kind: FolderKind;
  readonly remembered: Set<string>;
  readonly settling: Settling;
}

class Pass {
  readonly #watch: Watch;
  readonly #options: PassOptions;
  readonly #backlog: Backlog<WatchedFile>;

  constructor(watch: Watch, options: PassOptions) {
    this.#watch = watch;
    this.#options = options;
    this.#backlog = new Backlog(watch);
  }

  async take(files: readonly WatchedFile[]): Promise<void> {
    const results = await this.#watch.findResults(files.map(toKey));
    for (const file of files) {
      if (this.#watch.signal.aborted) return;
      const result = results.get(toKey(file));
      if (result !== undefined) await this.#finish(file, result);
      else if (this.#options.settling.isOver(file)) await this.#deliver(file);
    }
    await this.#backlog.waitForRoom((file, result) => this.#finish(file, result));
  }

  async #deliver(file: WatchedFile): Promise<void> {
    const { deliver, door, now, warnOnce } = this.#watch;
    if (file.size > MAX_INCOMING_BYTES) return warnOnce(file.path, TOO_LARGE);
    const key = toKey(file);
    try {
      const receivedAt = toInstant(now());
      const envelope = { place: file.path };
      await deliver({ door, key, envelope, receivedAt, bytes: readFileBytes(file) });
      this.#backlog.add(key, file);
    } catch (error) {
      if (error instanceof Changed) return;
      // The database does not store, so the files after this one need not be tried.
      if ((error as { code?: string }).code === 'unavailable') throw error;
      warnOnce(file.path, error);
    }
  }

  async #finish(file: WatchedFile, result: MailResult): Promise<void> {
    if (result === 'waiting') this.#backlog.add(toKey(file), file);
    if (result === 'waiting' || result === 'stuck') return;
    const isMoved = this.#watch.done === 'move' && (await this.#move(file, result));
    const { remembered } = this.#options;
    if (!isMoved && remembered.size < MAX_REMEMBERED) remembered.add(toKey(file));
  }

  async #move(file: WatchedFile, result: MailResult): Promise<boolean> {
    try {
      return await moveDone(this.#options.kind, file, result);
    } catch (error) {
      if (!(error instanceof Changed)) this.#watch.warnOnce(file.path, error);
      return false;
    }
  }
}
