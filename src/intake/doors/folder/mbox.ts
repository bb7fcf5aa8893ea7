import { createHash } from 'node:crypto';
import { lstat, realpath } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { toInstant } from '../../../domain/instant.ts';
import { toSizeText } from '../../../domain/size.ts';
import { findMessageStarts } from '../../containers/mailbox.ts';
import { MAX_MAIL_BYTES } from '../../limits.ts';
import { inGroups } from '../in-groups.ts';
import { toBytePath, toPathText, toSystemPath } from './byte-path.ts';
import { type OpenFile, pooledFiles } from './files.ts';
import { ASK_MS, MAX_IN_INBOX, type Watch } from './watch.ts';
import {
  Changed,
  findFile,
  openFound,
  readRange,
  requireSame,
  SETTLED_MS,
  toAgeMs,
  type WatchedFile,
} from './watched-file.ts';

/** Messages whose state is looked up together. */
const BATCH = 100;
const WINDOW_BYTES = 1024 * 1024;
const TOO_LARGE = new Error(`a message is larger than ${toSizeText(MAX_MAIL_BYTES)}`);
/** More than a "From " line and the name of a header field have, with the blank line before them. */
const CONTEXT_BYTES = 2_048;

/**
 * Delivers the messages of a mailbox file, which is never changed. While the file only grows, what was delivered is
 * not read again, except the last message, which may have been incomplete. A message is known by its bytes, so the
 * same mailbox read from its beginning gives nothing new.
 */
export function createMailboxReading(watch: Watch): () => Promise<void> {
  let known: { readonly file: WatchedFile; readonly lastStart: number } | undefined;
  return async () => {
    const file = await findFile(pooledFiles, toBytePath(await realpath(watch.path)));
    if (file === undefined || toAgeMs(file) < SETTLED_MS || (await isLocked(file.path))) return;
    if (known?.file.key === file.key) return;
    const from = known !== undefined && file.size > known.file.size ? known.lastStart : 0;
    const lastStart = await readMailbox(watch, file, from);
    if (lastStart !== undefined) known = { file, lastStart };
  };
}

/** Programs that write to a mailbox lock it by a file beside it. */
const isLocked = (path: string): Promise<boolean> =>
  lstat(toSystemPath(`${path}.lock`)).then(Boolean, () => false);

/** Where the last message begins; undefined when the file changed while it was read. */
async function readMailbox(watch: Watch, file: WatchedFile, from: number) {
  try {
    const handle = await openFound(pooledFiles, file);
    try {
      await requireSame(handle, file);
      return await deliverMessages(watch, { handle, file }, from);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof Changed) return undefined;
    throw error;
  }
}

interface Mailbox {
  readonly handle: OpenFile;
  readonly file: WatchedFile;
}

async function deliverMessages(watch: Watch, mailbox: Mailbox, from: number): Promise<number> {
  let batch: MessageRange[] = [];
  let lastStart = from;
  const inInbox = new Set<string>();
  for await (const range of findMessages(mailbox.handle, from, mailbox.file.size)) {
    if (watch.signal.aborted) throw new Changed();
    lastStart = range.start;
    batch.push(range);
    if (batch.length < BATCH) continue;
    for (const key of await deliverNew(watch, mailbox, batch)) inInbox.add(key);
    await waitForRoom(watch, inInbox);
    batch = [];
  }
  await deliverNew(watch, mailbox, batch);
  return lastStart;
}

/** Waits until the inbox has read some of the messages. */
async function waitForRoom({ findResults, signal }: Watch, inInbox: Set<string>): Promise<void> {
  while (inInbox.size >= MAX_IN_INBOX && !signal.aborted) {
    const results = await findResults([...inInbox]);
    for (const key of [...inInbox]) if (results.get(key) !== 'waiting') inInbox.delete(key);
    if (inInbox.size < MAX_IN_INBOX) return;
    await sleep(ASK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Returns the keys of those that it has delivered. */
async function deliverNew(
  watch: Watch,
  { handle, file }: Mailbox,
  ranges: readonly MessageRange[],
): Promise<string[]> {
  const keys = new Map<string, MessageRange>();
  const path = toPathText(file.path);
  for (const range of ranges) {
    if (range.end - range.start <= MAX_MAIL_BYTES)
      keys.set(await toMessageKey(handle, range), range);
    else watch.left.add(`${path}, offset ${range.start}`, TOO_LARGE);
  }
  const results = await watch.findResults([...keys.keys()]);
  const added = [...keys].filter(([key]) => !results.has(key));
  await inGroups(added, ([key, { start, end }]) =>
    watch.deliver({
      door: watch.door,
      key,
      envelope: { place: `${path}, offset ${start}` },
      receivedAt: toInstant(watch.now()),
      bytes: readRange(handle, start, end),
    }),
  );
  return added.map(([key]) => key);
}

async function toMessageKey(handle: OpenFile, { start, end }: MessageRange): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of readRange(handle, start, end)) digest.update(chunk);
  return `message ${digest.digest('hex')}`;
}

interface MessageRange {
  readonly start: number;
  readonly end: number;
}

/** The messages between two offsets, the first of which begins a message. Only a window of the file is in memory. */
async function* findMessages(handle: OpenFile, from: number, to: number) {
  let start = from;
  for await (const next of findStarts(handle, from, to)) {
    if (next > start) yield { start, end: next };
    start = next;
  }
  if (to > start) yield { start, end: to };
}

/** The offsets of messages after the first one. Windows overlap, so that each start has its context. */
async function* findStarts(handle: OpenFile, from: number, to: number): AsyncGenerator<number> {
  let next = from;
  for (let at = from; at < to; at += WINDOW_BYTES) {
    const begin = Math.max(from, at - CONTEXT_BYTES);
    const window = Buffer.alloc(Math.min(to, at + WINDOW_BYTES + CONTEXT_BYTES) - begin);
    const { bytesRead } = await handle.read(window, 0, window.length, begin);
    const bytes = window.subarray(0, bytesRead);
    const limit = at + WINDOW_BYTES - begin;
    for (const found of findMessageStarts(bytes)) {
      if (found > limit) break;
      if (begin + found <= next) continue;
      next = begin + found;
      yield next;
    }
  }
}
