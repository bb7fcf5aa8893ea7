/** One piece of intake work in a process of its own: `intake-job.ts <ingest|bare> <folder> <database>`. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { SaxesParser } from 'saxes';
import { type InputToRead, ingest } from '../../src/intake/ingest.ts';
import { listFiles, readFile } from '../../src/intake/inputs/files.ts';
import { createInputParser } from '../../src/intake/parser/input-parser.ts';
import { createParserProcess } from '../../src/intake/parser/parser-process.ts';
import { openStore } from '../../src/store/engine/open.ts';

const [kind, folder = '', database = ''] = process.argv.slice(2);

export interface JobResult {
  readonly cpuMs: number;
  readonly seconds: number;
  /** Peak memory of the process, minus its memory before the work. */
  readonly peakMb: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Stored reports of files whose names begin with `good`. */
  readonly good: number;
}

async function* inputs(): AsyncGenerator<InputToRead> {
  for await (const name of listFiles([folder])) yield { name, read: () => readFile(name) };
}

/** The baseline: every file is read, unpacked and parsed, without further work. */
async function readBare(): Promise<Record<string, number>> {
  let read = 0;
  for await (const input of inputs()) {
    const { bytes } = await input.read();
    const parser = new SaxesParser();
    parser.write(gunzipSync(bytes).toString()).close();
    read += 1;
  }
  return { read };
}

let good = 0;

async function ingestAll(): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {};
  const given = { db: store.db, now: () => new Date(), parser };
  for await (const { outcome, refusal, input } of ingest(given, inputs())) {
    if (outcome === 'unclaimed' && /good-\d+\.xml$/.test(input)) good += 1;
    const name = refusal === null ? outcome : `${outcome} ${refusal.reason}`;
    outcomes[name] = (outcomes[name] ?? 0) + 1;
  }
  return outcomes;
}

/**
 * `maxRSS` includes the memory of the process that forked this one. Linux reports the peak of this process
 * alone.
 */
function peakBytes(pid: number | 'self' = 'self'): number {
  const own = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(own?.[1]) * 1024;
}

/** CPU milliseconds of the child processes that have ended. The field has a resolution of 10 ms. */
function childCpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

const store = await openStore(database);

/** The memory of a reading process that has not read anything yet. */
async function readIdleBytes(): Promise<number> {
  const child = createParserProcess();
  await Array.fromAsync(child.parse(Buffer.from(' '), { nowMs: 0 }));
  const bytes = peakBytes(child.pid);
  await child.close();
  return bytes;
}

const childIdle = kind === 'bare' ? 0 : await readIdleBytes();
const child = createParserProcess();
const parser = createInputParser(child);
/** Peak memory of the reading processes, which are replaced when they end. Small inputs need none. */
let childPeak = childIdle;
const watching = setInterval(noteChildPeak, 20);

function noteChildPeak(): void {
  if (child.pid === undefined) return;
  try {
    childPeak = Math.max(childPeak, peakBytes(child.pid));
  } catch {
    // The process has ended.
  }
}

globalThis.gc?.();
const idle = process.memoryUsage.rss();
// Starting the child is part of the measured cost; its idle memory is not.
const [cpu, childCpu, startedAt] = [process.cpuUsage(), childCpuMs(), performance.now()];
const outcomes = await (kind === 'bare' ? readBare() : ingestAll());
const seconds = (performance.now() - startedAt) / 1000;
clearInterval(watching);
noteChildPeak();
await parser.close();
const { user, system } = process.cpuUsage(cpu);
const result: JobResult = {
  cpuMs: (user + system) / 1000 + childCpuMs() - childCpu,
  seconds,
  peakMb: (peakBytes() - idle + childPeak - childIdle) / 1024 / 1024,
  outcomes,
  good,
};
await store.close();
process.send?.(result);
process.disconnect?.();
