/** The first part of each of them is in memory. */
const AT_ONCE = 32;

/**
 * Delivers many mails: those that are delivered at the same time share a commit. After an error no more are begun, and
 * the first error is thrown when all that were begun have ended.
 */
export async function deliverAll<T>(
  items: readonly T[],
  deliver: (item: T) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE) {
    const delivered = await Promise.allSettled(items.slice(from, from + AT_ONCE).map(deliver));
    const failed = delivered.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
}
