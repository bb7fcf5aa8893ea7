/** Files that are known take about 300 bytes each. */
const MAX_KNOWN = 200_000;
/** Looking at a file takes twenty microseconds. */
const LOOK_MS_PER_FILE = 10;

export interface KnownFile {
  /** Empty until it was looked at, and of what is no regular file. */
  readonly state: string;
  /** Since when it is known in this state. */
  readonly sinceMs: number;
  /** Never while it is about to be looked at, or in the inbox. */
  lookAtMs: number;
  /** It was read in this state, and stays where it is. */
  isDone: boolean;
}

const NEVER = Number.POSITIVE_INFINITY;

/** The files of a folder by their names, with the state in which they are known and when they are looked at again. */
export class KnownFiles {
  readonly #pollMs: number;
  /** In the order in which they were found. */
  readonly #files = new Map<string, KnownFile>();
  /** The names of files to look at, those that were found last at the end. */
  readonly #due: string[] = [];

  constructor(pollMs: number) {
    this.#pollMs = pollMs;
  }

  get hasDue(): boolean {
    return this.#due.length > 0;
  }

  /** Whether there is room for the name. */
  add(name: string): boolean {
    if (this.#files.has(name)) return true;
    if (this.#files.size >= MAX_KNOWN) return false;
    this.#files.set(name, { state: '', sinceMs: 0, lookAtMs: 0, isDone: false });
    return true;
  }

  collectDue(): void {
    const nowMs = performance.now();
    for (const [name, file] of this.#files) {
      if (file.lookAtMs > nowMs) continue;
      file.lookAtMs = NEVER;
      this.#due.push(name);
    }
  }

  /** Names that were found last come first, so that one does not wait for thousands. */
  takeDue(count: number): string[] {
    const names = this.#due.splice(-count);
    for (const name of names) this.rest(name);
    return names;
  }

  /** The file in its state now. */
  note(name: string, state: string): KnownFile {
    const known = this.#files.get(name);
    if (known?.state === state) return known;
    const { lookAtMs } = known ?? { lookAtMs: 0 };
    const changed = { state, sinceMs: performance.now(), lookAtMs, isDone: false };
    this.#files.set(name, changed);
    return changed;
  }

  end(name: string, state: string): void {
    const known = this.#files.get(name);
    if (known?.state === state) known.isDone = true;
  }

  /** The time is random, so that files that were read together are not all looked at again together. */
  rest(name: string): void {
    const restMs = Math.max(this.#pollMs, this.#files.size * LOOK_MS_PER_FILE);
    this.#lookAt(name, performance.now() + restMs * (0.5 + Math.random()));
  }

  lookSoon(name: string): void {
    this.#lookAt(name, performance.now() + this.#pollMs);
  }

  /** Until `rest` or `lookSoon` is called. */
  hold(name: string): void {
    this.#lookAt(name, NEVER);
  }

  delete(name: string): void {
    this.#files.delete(name);
  }

  #lookAt(name: string, atMs: number): void {
    const known = this.#files.get(name);
    if (known !== undefined) known.lookAtMs = atMs;
  }
}
