import { describe, expect, test } from 'vitest';
import { PageCache } from '../../src/external/operations/page-cache.ts';

const page = (bytes = 10) => ({ bytes: Buffer.alloc(bytes) });

describe('a page is kept', () => {
  test('at its first request when it is the first of its list', () => {
    expect(new PageCache(1_000).isWorthKeeping('v1 50 0', true)).toBe(true);
  });

  test('at its second request when it is another one', () => {
    const cache = new PageCache(1_000);
    expect(cache.isWorthKeeping('v1 50 50', false)).toBe(false);
    expect(cache.isWorthKeeping('v1 50 100', false)).toBe(false);
    expect(cache.isWorthKeeping('v2 50 50', false)).toBe(false);
    expect(cache.isWorthKeeping('v1 50 50', false)).toBe(true);
  });

  test('never, without memory for pages', () => {
    const cache = new PageCache(0);
    for (const isFirst of [true, false, false])
      expect(cache.isWorthKeeping('v1 50 50', isFirst)).toBe(false);
  });
});

test('the least recently used page makes room for another', () => {
  const cache = new PageCache<{ bytes: Buffer }>(2_000);
  for (const key of ['a', 'b', 'a', 'c', 'a', 'd']) {
    if (cache.get(key) === undefined) cache.set(key, page(400));
  }
  expect(['a', 'b', 'c', 'd'].filter((key) => cache.get(key) !== undefined)).toEqual(['a', 'd']);
});
