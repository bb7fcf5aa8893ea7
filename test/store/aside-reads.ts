import type { Reader } from '../../src/store/engine/reader.ts';

/* What a test has the thread of long reads run. */

let ended = 0;

export async function* countUp(_reader: Reader, count: number): AsyncGenerator<number> {
  try {
    for (let i = 0; i < count; i += 1) yield i;
  } finally {
    ended += 1;
  }
}

/** How often `countUp` has ended in this thread. */
export async function findEnded(_reader: Reader, _count: number): Promise<number> {
  return ended;
}

export async function endThread(): Promise<void> {
  process.exit(1);
}

export async function fail(_reader: Reader, code: string): Promise<void> {
  throw Object.assign(new Error('It failed.'), { code });
}
