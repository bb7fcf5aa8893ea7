import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describeSystemError } from '../../../domain/system-error.ts';
import { keepRunning, type Running } from '../../../store/work/running.ts';
import { toBytePath } from './byte-path.ts';
import { pooledFiles } from './files.ts';
import { Folder, type FolderPlace } from './folder.ts';
import { createMailboxReading } from './mbox.ts';
import { ASK_MS, LeftFiles, toReason, type Watch, type WatchOptions } from './watch.ts';
import { isFolder } from './watched-file.ts';

const POLL_MS = 2_000;
const TURN_MS = 1_000;

/** Polls, because network file systems have no notifications. */
export function watchFolder(options: WatchOptions): Running {
  return keepRunning((signal) => {
    const watch: Watch = {
      ...options,
      door: `folder:${options.path}`,
      signal,
      pollMs: options.pollMs ?? POLL_MS,
      left: new LeftFiles(options.warn),
    };
    const turn = createTurn(watch);
    const note = createNoting(watch);
    return async () => {
      const { fault, restMs = TURN_MS } = await turn().catch(toFailed);
      await note(fault);
      return Math.min(restMs, watch.pollMs);
    };
  });
}

interface Turn {
  /** Why nothing is taken. */
  readonly fault?: string | undefined;
  /** Until the next turn. */
  readonly restMs?: number;
}

const toFailed = (error: unknown): Turn => ({ fault: toReason(error) });

/** A turn takes a second, or one step longer. It throws why nothing is taken. */
function createTurn(watch: Watch): () => Promise<Turn> {
  const readMailbox = createMailboxReading(watch);
  let folder: Folder | undefined;
  return async () => {
    const untilMs = performance.now() + TURN_MS;
    const place = await findPlace(watch.path);
    if (place === undefined) {
      await readMailbox();
      return {};
    }
    if (folder?.path !== place.path) folder = new Folder(watch, place);
    await folder.refresh();
    let hasMore = true;
    while (hasMore && performance.now() < untilMs) hasMore = await folder.look();
    return { restMs: hasMore ? 0 : folder.isWaiting ? ASK_MS : TURN_MS, fault: folder.fault };
  };
}

/**
 * The folder whose files are read; undefined of a mailbox file. The path may be a link. Throws an Error that says what
 * to do when it leads to neither.
 */
async function findPlace(path: string): Promise<FolderPlace | undefined> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    const cure = error.code === 'ENOENT' ? '; make it, or correct PLUMBLINE_WATCH' : '';
    throw new Error(`${describeSystemError(error)}${cure}`);
  });
  if (stats.isFile()) return undefined;
  if (!stats.isDirectory()) throw new Error('it is neither a folder nor a mailbox file');
  const parts = ['new', 'cur', 'tmp'].map((name) => toBytePath(join(path, name)));
  const areFolders = await Promise.all(parts.map((part) => isFolder(pooledFiles, part)));
  if (areFolders.every(Boolean)) return { path: toBytePath(join(path, 'new')), kind: 'maildir' };
  return { path: toBytePath(path), kind: 'drop' };
}

/** What keeps the door from working is logged when it begins. Single files are in the log already. */
function createNoting({ noteDoor, door, warn, path, left }: Watch) {
  let known: string | undefined;
  return async (fault: string | undefined): Promise<void> => {
    if (fault !== undefined && fault !== known)
      warn({ path }, `Nothing is taken from ${path}: ${fault}.`);
    known = fault;
    // It fails only by a fault of the database, which the next turn meets too.
    await noteDoor(door, fault ?? left.describe()).catch(() => undefined);
  };
}
