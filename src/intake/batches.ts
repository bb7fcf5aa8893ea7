/** The same items in groups, in order. The last item of a group may exceed `maxBytes`, which `estimate` counts. */
export async function* toBatches<T>(
  items: AsyncIterable<T>,
  limits: { maxItems: number; maxBytes: number; estimate: (item: T) => number },
): AsyncGenerator<T[]> {
  let [batch, bytes]: [T[], number] = [[], 0];
  for await (const item of items) {
    batch.push(item);
    bytes += limits.estimate(item);
    if (batch.length < limits.maxItems && bytes < limits.maxBytes) continue;
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
