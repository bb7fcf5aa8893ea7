import { describe, expect, test } from 'vitest';
import { compressWell, PageCache, toOwnBytes } from '../../src/external/page-cache.ts';

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

test('a page that is a slice of larger memory counts as all of it', () => {
  const cache = new PageCache<{ bytes: Buffer }>(2_000);
  cache.set('slice', { bytes: Buffer.alloc(4_000).subarray(0, 10) });
  expect(cache.get('slice')).toBeUndefined();
});

test('what is kept has memory of its own, plain and compressed', async () => {
  const slice = Buffer.alloc(100_000, 'page').subarray(0, 13_000);
  const kept = [
    toOwnBytes(slice),
    await compressWell(slice, 'gzip'),
    await compressWell(slice, 'br'),
  ];
  for (const bytes of kept) expect(bytes.buffer.byteLength).toBe(bytes.length);
  expect(kept[0]).toEqual(slice);
});

test('the least recently used page makes room for another', () => {
  const cache = new PageCache<{ bytes: Buffer }>(2_000);
  for (const key of ['a', 'b', 'a', 'c', 'a', 'd']) {
    if (cache.get(key) === undefined) cache.set(key, page(400));
  }
  expect(['a', 'b', 'c', 'd'].filter((key) => cache.get(key) !== undefined)).toEqual(['a', 'd']);
});
