import { setImmediate as yieldToOthers } from 'node:timers/promises';

/** The first part of each mail is in memory. */
const AT_ONCE = 32;

/**
 * Works on many items, some at the same time: mails share a commit then, and calls of the system cost less. After an
 * error no more are begun, and the first error is thrown when all that were begun have ended.
 */
export async function inGroups<T>(items: readonly T[], work: (item: T) => Promise<void>) {
  for (let from = 0; from < items.length; from += AT_ONCE) {
    const done = await Promise.allSettled(items.slice(from, from + AT_ONCE).map(work));
    const failed = done.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    // What each item waits for may have been there at once.
    await yieldToOthers();
  }
}
