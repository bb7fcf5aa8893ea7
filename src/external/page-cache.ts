import { LRUCache } from 'lru-cache';
import { type Compression, compress, toBrotli } from '../domain/content-coding.ts';

/** How many pages that were asked for once are remembered, by their keys alone. */
const MAX_ASKED = 4_000;
/** What an entry costs besides its page. */
const ENTRY_BYTES = 500;

/**
 * Up to `maxBytes`; the least recently used page is removed first. A page is kept when it is likely to be asked for
 * again: the first of a list, and any other at its second request. A client that walks a list asks for each page
 * once: keeping those would cost more than reading them, and would remove better ones.
 */
export class PageCache<Page extends { readonly bytes: Buffer }> {
  readonly #pages: LRUCache<string, Page>;
  readonly #asked = new LRUCache<string, true>({ max: MAX_ASKED });
  readonly #isOff: boolean;

  constructor(maxBytes: number) {
    this.#isOff = maxBytes < 1;
    this.#pages = new LRUCache({
      // LRUCache rejects a maximum size of 0.
      maxSize: Math.max(1, maxBytes),
      // The size of the compressed page is not known yet; it is a small part.
      sizeCalculation: ({ bytes }) => bytes.buffer.byteLength + ENTRY_BYTES,
    });
  }

  get(key: string): Page | undefined {
    return this.#isOff ? undefined : this.#pages.get(key);
  }

  set(key: string, page: Page): void {
    this.#pages.set(key, page);
  }

  measure(): { readonly pages: number; readonly bytes: number } {
    return { pages: this.#pages.size, bytes: this.#pages.calculatedSize };
  }

  /** Whether a page that is not in memory should be kept. Remembers that it was asked for. */
  isWorthKeeping(key: string, isFirst: boolean): boolean {
    if (this.#isOff) return false;
    if (isFirst || this.#asked.delete(key)) return true;
    this.#asked.set(key, true);
    return false;
  }
}

/** A copy in memory of its own: what `Buffer.from` and node:zlib return keeps all of 64 or 16 KiB in use. */
export function toOwnBytes(bytes: Uint8Array): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}

/** Compresses a body with more effort: it is kept and sent again and again. The work is done in another thread. */
export async function compressWell(body: Buffer, compression: Compression): Promise<Buffer> {
  return toOwnBytes(await compress(body, compression, GOOD[compression]));
}

const GOOD = { gzip: { level: 6 }, br: toBrotli(5) } as const;
