import type { FileHandle } from 'node:fs/promises';
import { findMessageStart } from '../../containers/mailbox.ts';

const WINDOW_BYTES = 1024 * 1024;
/** More than a "From " line and the name of a header field have, with the blank line before them. */
const CONTEXT_BYTES = 2_048;

/** Where in a file a message begins and ends. */
export interface MessageRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The messages of a mailbox file between two offsets, the first of which begins a message. Only a window of the
 * file is in memory.
 */
export async function* findMessages(
  handle: FileHandle,
  from: number,
  to: number,
): AsyncGenerator<MessageRange> {
  let start = from;
  for await (const next of findStarts(handle, from, to)) {
    if (next > start) yield { start, end: next };
    start = next;
  }
  if (to > start) yield { start, end: to };
}

/** The offsets of messages after the first one. Windows overlap, so that each start has its context. */
async function* findStarts(handle: FileHandle, from: number, to: number): AsyncGenerator<number> {
  let next = from;
  for (let at = from; at < to; at += WINDOW_BYTES) {
    const begin = Math.max(from, at - CONTEXT_BYTES);
    const window = Buffer.alloc(Math.min(to, at + WINDOW_BYTES + CONTEXT_BYTES) - begin);
    const { bytesRead } = await handle.read(window, 0, window.length, begin);
    const bytes = window.subarray(0, bytesRead);
    const limit = at + WINDOW_BYTES - begin;
    for (let found = findMessageStart(bytes, 0); found !== undefined && found <= limit; ) {
      if (begin + found > next) {
        next = begin + found;
        yield next;
      }
      found = findMessageStart(bytes, found);
    }
  }
}
