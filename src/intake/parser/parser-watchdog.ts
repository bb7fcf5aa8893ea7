/** A thread of the reading process that ends the process when it uses too much CPU or memory, or has no parent. */
import { Worker } from 'node:worker_threads';

const CHECK_MS = 100;
/** Besides the heap, which has a lower limit: the input's bytes, copies of parts of it, and Node itself. */
const BASE_BYTES = 384 * 1024 * 1024;
const BYTES_PER_INPUT_BYTE = 4;
/** The values that both threads share: a count of inputs, and the limits of the present one. */
const [COUNT, CPU_MS, MAX_BYTES] = [0, 1, 2];

/** Starts the thread, which watches from its `online` event on. It gets the text of a function: a thread that loads a module costs three times as much CPU. */
export function startWatchdog() {
  const values = new Float64Array(new SharedArrayBuffer(3 * Float64Array.BYTES_PER_ELEMENT));
  const thread = new Worker(`(${watch})(require('node:worker_threads').workerData)`, {
    eval: true,
    workerData: { values, checkMs: CHECK_MS } satisfies Parameters<typeof watch>[0],
    env: {},
    execArgv: [],
  });
  const start = (cpuMs: number, inputBytes: number): void => {
    values[CPU_MS] = cpuMs;
    values[MAX_BYTES] = BASE_BYTES + BYTES_PER_INPUT_BYTE * inputBytes;
    values[COUNT] = (values[COUNT] ?? 0) + 1;
  };
  return { thread, start, rest: () => start(Number.POSITIVE_INFINITY, 0) };
}

/** Runs in the thread, from its text: it uses its argument and Node's globals only. */
function watch({ values, checkMs }: { values: Float64Array; checkMs: number }): void {
  const cpuMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  const parent = process.ppid;
  let [known, startedMs] = [0, cpuMs()];
  setInterval(() => {
    const [count = 0, maxCpuMs = 0, maxBytes = 0] = values;
    if (count !== known) [known, startedMs] = [count, cpuMs()];
    if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
    if (count === 0) return;
    if (cpuMs() - startedMs > maxCpuMs) process.kill(process.pid, 'SIGXCPU');
    if (process.memoryUsage.rss() > maxBytes) process.kill(process.pid, 'SIGKILL');
  }, checkMs);
}
