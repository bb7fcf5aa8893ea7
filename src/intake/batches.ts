interface Limits<T> {
  readonly items: number;
  /** The estimated bytes of a batch, of which the last item may exceed them. */
  readonly bytes: number;
  readonly estimate: (item: T) => number;
}

/** The same items in groups, in order. */
export async function* toBatches<T>(
  items: AsyncIterable<T>,
  limits: Limits<T>,
): AsyncGenerator<T[]> {
  let [batch, bytes]: [T[], number] = [[], 0];
  for await (const item of items) {
    batch.push(item);
    bytes += limits.estimate(item);
    if (batch.length < limits.items && bytes < limits.bytes) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

/** The same items, each requested while the one before it is in use. At most one item is held. */
export async function* ahead<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = iterator.next();
      // The error is thrown when the item is awaited.
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}
