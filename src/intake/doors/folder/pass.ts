import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { toInstant } from '../../../domain/instant.ts';
import { toSizeText } from '../../../domain/size.ts';
import { MAX_INCOMING_BYTES, type MailResult } from '../../../store/inbox/incoming.ts';
import { isPseudoFolder } from '../../inputs/pseudo-file-system.ts';
import type { Watching } from './folder-door.ts';
import { moveDone } from './move.ts';
import { isUnfinished, type PlaceKind } from './place.ts';
import type { Settling } from './settling.ts';
import { Changed, findFile, readFileBytes, toKey, type WatchedFile } from './watched-file.ts';

/** Files whose state is looked up together. */
const BATCH = 100;
/** Files or messages of a door that are in the inbox and not read. More than that wait where they are. */
export const MAX_IN_INBOX = 500;
export const ASK_AGAIN_MS = 200;
/** After this time the files that are not read yet are left to the next pass. */
const MAX_WAIT_MS = 60_000;

/** What a door remembers of a folder between passes. */
export interface Remembered {
  /** Files that are done and stay where they are, by their keys. */
  readonly settled: Set<string>;
  readonly settling: Settling;
}

/** A million keys take about 150 MB. Beyond the bound the database is asked again. */
const MAX_REMEMBERED = 200_000;

/**
 * Goes through a folder once: delivers files that are new, and moves those that are done. Only regular files in
 * the folder itself count. Returns whether it delivered any. Throws when the inbox cannot store; what was not
 * delivered is found by the next pass.
 */
export async function passThrough(
  watching: Watching,
  { folder, kind }: { readonly folder: string; readonly kind: PlaceKind },
  remembered: Remembered,
): Promise<boolean> {
  if (await isPseudoFolder(folder)) throw new Error('it is in a file system of the kernel');
  const pass = new Pass(watching, kind, remembered);
  let batch: WatchedFile[] = [];
  for await (const entry of await opendir(folder, { bufferSize: BATCH })) {
    if (watching.signal.aborted) return false;
    if (!entry.isFile() || isUnfinished(entry.name)) continue;
    const file = await findFile(join(folder, entry.name));
    if (file === undefined || remembered.settled.has(toKey(file))) continue;
    batch.push(file);
    if (batch.length < BATCH) continue;
    await pass.take(batch);
    batch = [];
  }
  await pass.take(batch);
  return pass.hasDelivered;
}

class Pass {
  hasDelivered = false;
  readonly #watching: Watching;
  readonly #kind: PlaceKind;
  readonly #remembered: Remembered;
  readonly #inInbox = new Map<string, WatchedFile>();

  constructor(watching: Watching, kind: PlaceKind, remembered: Remembered) {
    this.#watching = watching;
    this.#kind = kind;
    this.#remembered = remembered;
  }

  async take(files: readonly WatchedFile[]): Promise<void> {
    const results = await this.#watching.findResults(files.map(toKey));
    for (const file of files) {
      if (this.#watching.signal.aborted) return;
      const result = results.get(toKey(file));
      if (result !== undefined) await this.#settle(file, result);
      else if (this.#remembered.settling.isOver(file)) await this.#deliver(file);
    }
    await this.#waitForRoom();
  }

  async #deliver(file: WatchedFile): Promise<void> {
    const { deliver, door, now, tellOnce } = this.#watching;
    if (file.size > MAX_INCOMING_BYTES) return tellOnce(file.path, TOO_LARGE);
    const key = toKey(file);
    try {
      const receivedAt = toInstant(now());
      const envelope = { place: file.path };
      await deliver({ door, key, envelope, receivedAt, bytes: readFileBytes(file) });
      this.#inInbox.set(key, file);
      this.hasDelivered = true;
    } catch (error) {
      if (error instanceof Changed) return;
      if (isOfInbox(error)) throw error;
      tellOnce(file.path, error);
    }
  }

  async #settle(file: WatchedFile, result: MailResult): Promise<void> {
    if (result === 'waiting' || result === 'stuck') {
      if (result === 'waiting') this.#inInbox.set(toKey(file), file);
      return;
    }
    const isMoved = this.#watching.done === 'move' && (await this.#move(file, result));
    if (isMoved) return;
    const { settled } = this.#remembered;
    if (settled.size < MAX_REMEMBERED) settled.add(toKey(file));
  }

  async #move(file: WatchedFile, result: MailResult): Promise<boolean> {
    try {
      return await moveDone(this.#kind, file, result);
    } catch (error) {
      if (!(error instanceof Changed)) this.#watching.tellOnce(file.path, error);
      return false;
    }
  }

  /** A folder can have a hundred thousand files, and the inbox is not the place for all of them. */
  async #waitForRoom(): Promise<void> {
    const { signal } = this.#watching;
    const until = performance.now() + MAX_WAIT_MS;
    while (this.#inInbox.size >= MAX_IN_INBOX && !signal.aborted) {
      await this.#settleThose();
      if (performance.now() > until) this.#inInbox.clear();
      else await sleep(ASK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #settleThose(): Promise<void> {
    const results = await this.#watching.findResults([...this.#inInbox.keys()]);
    for (const [key, file] of this.#inInbox) {
      const result = results.get(key);
      if (result === 'waiting') continue;
      this.#inInbox.delete(key);
      if (result !== undefined) await this.#settle(file, result);
    }
  }
}

const TOO_LARGE = new Error(`it is larger than ${toSizeText(MAX_INCOMING_BYTES)}`);

/** The database does not store, so the files after this one need not be tried. */
function isOfInbox(error: unknown): boolean {
  return (error as { code?: string }).code === 'unavailable';
}
