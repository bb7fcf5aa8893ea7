import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { lstat, realpath } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { toInstant } from '../../../domain/instant.ts';
import { toSizeText } from '../../../domain/size.ts';
import { MAX_MAIL_BYTES } from '../../limits.ts';
import type { Watching } from './folder-door.ts';
import { findMessages, type MessageRange } from './mbox-messages.ts';
import { ASK_AGAIN_MS, MAX_IN_INBOX } from './pass.ts';
import {
  Changed,
  findFile,
  isSettled,
  openAs,
  readRange,
  toKey,
  type WatchedFile,
} from './watched-file.ts';

/** Messages whose state is looked up together. */
const BATCH = 100;

/** A state of the file that was read, and where its last message begins. */
interface Known {
  readonly file: WatchedFile;
  readonly lastStart: number;
}

/**
 * Delivers the messages of a mailbox file, which is never changed. What was delivered is not read again as long
 * as the file only grows, but for the last message, which may have been incomplete. A message is known by its
 * bytes, so the same mailbox read from its beginning gives nothing new.
 */
export function createMailboxReader(watching: Watching): () => Promise<void> {
  let known: Known | undefined;
  return async () => {
    const file = await findFile(await realpath(watching.path));
    if (file === undefined || !isSettled(file, Date.now()) || (await isLocked(file.path))) return;
    if (known !== undefined && toKey(known.file) === toKey(file)) return;
    const from = known !== undefined && file.size > known.file.size ? known.lastStart : 0;
    const lastStart = await readMailbox(watching, file, from);
    if (lastStart !== undefined) known = { file, lastStart };
  };
}

/** Programs that write to a mailbox lock it by a file beside it. */
async function isLocked(path: string): Promise<boolean> {
  return (await lstat(`${path}.lock`).catch(() => undefined)) !== undefined;
}

/** Where the last message begins; undefined when the file changed while it was read. */
async function readMailbox(
  watching: Watching,
  file: WatchedFile,
  from: number,
): Promise<number | undefined> {
  try {
    const handle = await openAs(file);
    try {
      return await deliverMessages(watching, { handle, file }, from);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof Changed) return undefined;
    throw error;
  }
}

interface Mailbox {
  readonly handle: FileHandle;
  readonly file: WatchedFile;
}

async function deliverMessages(
  watching: Watching,
  mailbox: Mailbox,
  from: number,
): Promise<number> {
  let batch: MessageRange[] = [];
  let lastStart = from;
  const inInbox = new Set<string>();
  for await (const range of findMessages(mailbox.handle, from, mailbox.file.size)) {
    if (watching.signal.aborted) throw new Changed();
    lastStart = range.start;
    batch.push(range);
    if (batch.length < BATCH) continue;
    for (const key of await deliverNew(watching, mailbox, batch)) inInbox.add(key);
    await waitForRoom(watching, inInbox);
    batch = [];
  }
  await deliverNew(watching, mailbox, batch);
  return lastStart;
}

/** Returns the keys of those that it has delivered. */
async function deliverNew(
  watching: Watching,
  { handle, file }: Mailbox,
  ranges: readonly MessageRange[],
): Promise<string[]> {
  const keys = new Map<string, MessageRange>();
  for (const range of ranges) {
    const size = range.end - range.start;
    if (size <= MAX_MAIL_BYTES) keys.set(await toMessageKey(handle, range), range);
    else
      watching.tellOnce(
        `${file.path}, offset ${range.start}`,
        new Error(`a message is larger than ${toSizeText(MAX_MAIL_BYTES)}`),
      );
  }
  const results = await watching.findResults([...keys.keys()]);
  const delivered: string[] = [];
  for (const [key, { start, end }] of keys) {
    if (results.has(key)) continue;
    await watching.deliver({
      door: watching.door,
      key,
      envelope: { place: `${file.path}, offset ${start}` },
      receivedAt: toInstant(watching.now()),
      bytes: readRange(handle, start, end),
    });
    delivered.push(key);
  }
  return delivered;
}

/** A mailbox can have a hundred thousand messages, and the inbox is not the place for all of them. */
async function waitForRoom({ findResults, signal }: Watching, inInbox: Set<string>): Promise<void> {
  while (inInbox.size >= MAX_IN_INBOX && !signal.aborted) {
    const results = await findResults([...inInbox]);
    for (const key of inInbox) if (results.get(key) !== 'waiting') inInbox.delete(key);
    if (inInbox.size < MAX_IN_INBOX) return;
    await sleep(ASK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function toMessageKey(handle: FileHandle, { start, end }: MessageRange): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of readRange(handle, start, end)) digest.update(chunk);
  return `message ${digest.digest('hex')}`;
}
