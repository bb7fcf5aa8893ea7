import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DoorName } from '../../../domain/incoming.ts';
import { describeSystemError } from '../../../domain/system-error.ts';
import { keepRunning, type Running } from '../../../store/work/running.ts';
import { Folder, type FolderPlace, type Watch } from './folder.ts';
import { LeftFiles, toReason, type Warn } from './left-files.ts';
import { isFolder, toBytePath } from './watched-file.ts';

const POLL_MS = 2_000;
const TURN_MS = 1_000;
/** How often the inbox is asked what it has read. */
const ASK_MS = 200;

interface WatchOptions extends Omit<Watch, 'door' | 'signal' | 'pollMs' | 'left'> {
  /** Notes that the door works, or what keeps it from working. */
  readonly noteDoor: (door: DoorName, error?: string) => Promise<void>;
  readonly warn: Warn;
  /** How often a folder of few files is listed. */
  readonly pollMs?: number;
}

/** Polls, because network file systems have no notifications. */
export function watchFolder(options: WatchOptions): Running {
  const { path, warn, noteDoor, pollMs = POLL_MS } = options;
  return keepRunning((signal) => {
    const left = new LeftFiles(warn);
    const watch: Watch = { ...options, door: `folder:${path}`, signal, pollMs, left };
    const turn = createTurn(watch);
    let known: string | undefined;
    return async () => {
      const { fault, restMs = TURN_MS } = await turn().catch(toFailed);
      // It is logged when it begins. Single files are in the log already.
      if (fault !== undefined && fault !== known)
        warn({ path }, `Nothing is taken from ${path}: ${fault}.`);
      known = fault;
      // It fails only by a fault of the database, which the next turn meets too.
      await noteDoor(watch.door, fault ?? left.describe()).catch(() => undefined);
      return Math.min(restMs, pollMs);
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
  let folder: Folder | undefined;
  return async () => {
    const untilMs = performance.now() + TURN_MS;
    const place = await findPlace(watch.path);
    if (folder?.place.path !== place.path) folder = new Folder(watch, place);
    await folder.refresh();
    let hasMore = true;
    while (hasMore && performance.now() < untilMs) hasMore = await folder.look();
    return { restMs: hasMore ? 0 : folder.isWaiting ? ASK_MS : TURN_MS, fault: folder.fault };
  };
}

/** The path may be a link. Throws an Error that says what to do when it leads to no folder. */
async function findPlace(path: string): Promise<FolderPlace> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    const cure = error.code === 'ENOENT' ? '; make it, or correct PLUMBLINE_WATCH' : '';
    throw new Error(`${describeSystemError(error)}${cure}`);
  });
  if (!stats.isDirectory()) throw new Error('it is no folder; `plumbline ingest` reads files');
  const parts = ['new', 'cur', 'tmp'].map((name) => toBytePath(join(path, name)));
  const areFolders = await Promise.all(parts.map(isFolder));
  if (areFolders.every(Boolean)) return { path: toBytePath(join(path, 'new')), kind: 'maildir' };
  return { path: toBytePath(path), kind: 'drop' };
}
