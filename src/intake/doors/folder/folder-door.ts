import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeSystemError } from '../../../domain/system-error.ts';
import type { Deliver, DoorName, MailResult } from '../../../store/inbox/incoming.ts';
import { createMailboxReader } from './mbox.ts';
import { passThrough, type Remembered } from './pass.ts';
import { findKind } from './place.ts';
import { Settling } from './settling.ts';
import { SETTLED_MS } from './watched-file.ts';

const POLL_MS = 10_000;
/** After a pass that delivered files: they are read soon, and then moved. */
const SOON_MS = 1_000;
/** A pass through a large folder takes long. Passes take at most this share of the time. */
const PASS_SHARE = 0.05;
/** Files whose error was told once. */
const MAX_TOLD = 1_000;

interface Given {
  /** The path of a folder, a Maildir or a mailbox file. */
  readonly path: string;
  /** What becomes of files that are done. */
  readonly done: 'move' | 'leave';
  readonly now: () => Date;
  readonly deliver: Deliver;
  readonly findResults: (keys: readonly string[]) => Promise<ReadonlyMap<string, MailResult>>;
  /** Notes that the door works, or what keeps it from working. */
  readonly noteDoor: (door: DoorName, error?: string) => Promise<void>;
  readonly warn: (fields: { readonly path: string }, message: string) => void;
  /** The pause after a pass. Without it, the pause depends on how long a pass takes. */
  readonly pollMs?: number;
}

/** What a pass needs. */
export interface Watching extends Given {
  readonly door: DoorName;
  readonly signal: AbortSignal;
  /** Logs the error of a file that is left where it is, once for each file. */
  readonly tellOnce: (path: string, error: unknown) => void;
}

/**
 * Delivers the files of a folder to the inbox, again and again. The file system's notifications only make a pass
 * begin earlier: on network file systems there are none.
 */
export function watchFolder(given: Given): { readonly stop: () => Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const { path } = given;
  const watching = toWatching(given, signal);
  const hints = new Hints(path);
  const pass = createPass(watching);
  const note = createNoting(watching);
  const passAndRest = async () => {
    const begunAt = performance.now();
    let isSoon = false;
    const error = await pass().then((hasDelivered) => {
      isSoon = hasDelivered;
      return undefined;
    }, toText);
    await note(error);
    hints.listen();
    const passMs = performance.now() - begunAt;
    const restMs = given.pollMs ?? Math.max(isSoon ? SOON_MS : POLL_MS, passMs / PASS_SHARE);
    await hints.wait(restMs, signal);
  };
  const running = (async () => {
    while (!signal.aborted) await passAndRest();
    hints.close();
  })();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

function toWatching(given: Given, signal: AbortSignal): Watching {
  const told = new Set<string>();
  const tellOnce = (path: string, error: unknown) => {
    if (told.has(path) || told.size >= MAX_TOLD) return;
    told.add(path);
    given.warn({ path }, `The file is left where it is: ${toText(error)}.`);
  };
  return { ...given, door: `folder:${given.path}`, signal, tellOnce };
}

/** One pass through whatever is at the path now. Returns whether there are files to be moved soon. */
function createPass(watching: Watching): () => Promise<boolean> {
  const { path } = watching;
  const remembered: Remembered = { settled: new Set(), settling: new Settling() };
  const readMailbox = createMailboxReader(watching);
  return async () => {
    const kind = await findKind(path);
    if (kind === 'mbox') {
      await readMailbox();
      return false;
    }
    const folder = kind === 'maildir' ? join(path, 'new') : path;
    return await passThrough(watching, { folder, kind }, remembered);
  };
}

/**
 * Notes how each pass ended. What keeps the door from working is logged when it begins. A state that cannot be noted is
 * a fault of the database, which the pass has met too.
 */
function createNoting({ noteDoor, door, warn, path }: Watching) {
  let known: string | undefined;
  return async (error: string | undefined): Promise<void> => {
    if (error !== undefined && error !== known)
      warn({ path }, `Nothing is taken from ${path}: ${error}.`);
    known = error;
    await noteDoor(door, error).catch(() => undefined);
  };
}

function toText(error: unknown): string {
  const isSystem = (error as NodeJS.ErrnoException).syscall !== undefined;
  if (isSystem) return describeSystemError(error);
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}

/** Notifications of the file system. */
class Hints {
  readonly #path: string;
  #watcher: FSWatcher | undefined;
  #woken = Promise.withResolvers<void>();

  constructor(path: string) {
    this.#path = path;
  }

  listen(): void {
    if (this.#watcher !== undefined) return;
    try {
      this.#watcher = watch(this.#path, { persistent: false }, () => this.#woken.resolve());
      this.#watcher.on('error', () => this.close());
    } catch {
      // There is nothing at the path, or the system has no notifications to spare.
    }
  }

  /** Waits until the time is over, or something has happened and the file has had time to be complete. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const rest = (restMs: number) =>
      sleep(restMs, undefined, { signal, ref: false }).catch(() => undefined);
    await Promise.race([rest(ms), this.#woken.promise.then(() => rest(Math.min(ms, SETTLED_MS)))]);
    this.#woken = Promise.withResolvers();
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}
