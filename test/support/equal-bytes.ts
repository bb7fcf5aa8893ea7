import { expect } from 'vitest';

/** By themselves, assertions compare bytes one by one, as items of lists: a megabyte takes a second. */
expect.addEqualityTesters([
  (one, other) =>
    one instanceof Uint8Array && other instanceof Uint8Array
      ? Buffer.compare(one, other) === 0
      : undefined,
]);
