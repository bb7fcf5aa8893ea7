import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeSystemError } from '../../../domain/system-error.ts';
import { createMailboxReading } from './mbox.ts';
import { createFolderPass } from './pass.ts';
import type { Watch, WatchOptions } from './watch.ts';
import { isFolder } from './watched-file.ts';

const POLL_MS = 2_000;
/** A pass through a large folder takes long. The pause after it is so many times longer, and at most a minute. */
const PAUSE_PER_PASS = 10;
const MAX_PAUSE_MS = 60_000;
/** Files whose error was logged once. */
const MAX_WARNED = 1_000;

/** Polls, because network file systems have no notifications. */
export function watchFolder(options: WatchOptions): { readonly stop: () => Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const watch = toWatch(options, signal);
  const pass = createPass(watch);
  const note = createNoting(watch);
  const passAndRest = async () => {
    const begunAt = performance.now();
    await note(await pass().then(() => undefined, toText));
    const pauseMs = Math.max(POLL_MS, (performance.now() - begunAt) * PAUSE_PER_PASS);
    const restMs = options.pollMs ?? Math.min(MAX_PAUSE_MS, pauseMs);
    await sleep(restMs, undefined, { signal, ref: false }).catch(() => undefined);
  };
  const running = (async () => {
    while (!signal.aborted) await passAndRest();
  })();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

function toWatch(options: WatchOptions, signal: AbortSignal): Watch {
  const warned = new Set<string>();
  const warnOnce = (path: string, error: unknown) => {
    if (warned.has(path) || warned.size >= MAX_WARNED) return;
    warned.add(path);
    options.warn({ path }, `The file is left where it is: ${toText(error)}.`);
  };
  return { ...options, door: `folder:${options.path}`, signal, warnOnce };
}

function createPass(watch: Watch): () => Promise<void> {
  const { path } = watch;
  const passFolder = createFolderPass(watch);
  const readMailbox = createMailboxReading(watch);
  return async () => {
    if (await isMailboxFile(path)) return await readMailbox();
    const isMaildir = await isEveryFolder(['new', 'cur', 'tmp'].map((name) => join(path, name)));
    await passFolder(isMaildir ? join(path, 'new') : path, isMaildir ? 'maildir' : 'drop');
  };
}

/** The path may be a link. Throws an Error that says what to do when it leads neither to a file nor to a folder. */
async function isMailboxFile(path: string): Promise<boolean> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    const cure = error.code === 'ENOENT' ? '; make it, or correct PLUMBLINE_WATCH' : '';
    throw new Error(`${describeSystemError(error)}${cure}`);
  });
  if (!stats.isFile() && !stats.isDirectory())
    throw new Error('it is neither a folder nor a mailbox file');
  return stats.isFile();
}

async function isEveryFolder(paths: readonly string[]): Promise<boolean> {
  return (await Promise.all(paths.map(isFolder))).every(Boolean);
}

/** An error is logged when it begins. Noting fails only by a fault of the database, which the pass has met too. */
function createNoting({ noteDoor, door, warn, path }: Watch) {
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
