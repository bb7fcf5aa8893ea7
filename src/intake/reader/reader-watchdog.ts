/** A thread of the reading process that ends the process when it uses too much CPU or memory, or has no parent. */
import { isMainThread, workerData } from 'node:worker_threads';

const CHECK_MS = 100;
/**
 * Besides the heap, which has a lower limit, there are the source's bytes, copies of parts of it, and Node
 * itself.
 */
const BASE_BYTES = 384 * 1024 * 1024;
const BYTES_PER_SOURCE_BYTE = 4;

/**
 * The progress of the reading, in memory that both threads share: a count of sources, and the limits of the
 * present one.
 */
export class Progress {
  readonly buffer: SharedArrayBuffer;
  readonly #values: Float64Array;

  constructor(buffer = new SharedArrayBuffer(3 * Float64Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#values = new Float64Array(buffer);
  }

  /** The reading of a source begins, with this CPU limit. */
  start(cpuMs: number, sourceBytes: number): void {
    this.#values[1] = cpuMs;
    this.#values[2] = BASE_BYTES + BYTES_PER_SOURCE_BYTE * sourceBytes;
    this.#values[0] = this.count + 1;
  }

  /** No source is being read. */
  rest(): void {
    this.start(Number.POSITIVE_INFINITY, 0);
  }

  get count(): number {
    return this.#values[0] ?? 0;
  }

  get cpuMs(): number {
    return this.#values[1] ?? 0;
  }

  get maxBytes(): number {
    return this.#values[2] ?? 0;
  }
}

if (!isMainThread && workerData instanceof SharedArrayBuffer) watch(new Progress(workerData));

function watch(progress: Progress): void {
  const parent = process.ppid;
  let [count, startedMs] = [0, cpuMs()];
  setInterval(() => {
    if (progress.count !== count) [count, startedMs] = [progress.count, cpuMs()];
    if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
    if (count === 0) return;
    if (cpuMs() - startedMs > progress.cpuMs) process.kill(process.pid, 'SIGXCPU');
    if (process.memoryUsage.rss() > progress.maxBytes) process.kill(process.pid, 'SIGKILL');
  }, CHECK_MS);
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
