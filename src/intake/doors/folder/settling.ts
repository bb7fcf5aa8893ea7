import { isSettled, SETTLED_MS, toKey, type WatchedFile } from './watched-file.ts';

const MAX_SEEN = 10_000;

/**
 * Whether files have not changed for some time. The clock of the file system says so; when that is ahead of this
 * machine's, the file has to be found in the same state again after the time.
 */
export class Settling {
  readonly #seen = new Map<string, { readonly key: string; readonly at: number }>();

  isOver(file: WatchedFile): boolean {
    const key = toKey(file);
    const seen = this.#seen.get(file.path);
    const isSame = seen?.key === key && performance.now() - seen.at >= SETTLED_MS;
    if (isSettled(file, Date.now()) || isSame) {
      this.#seen.delete(file.path);
      return true;
    }
    if (this.#seen.size >= MAX_SEEN) this.#seen.clear();
    if (seen?.key !== key) this.#seen.set(file.path, { key, at: performance.now() });
    return false;
  }
}
