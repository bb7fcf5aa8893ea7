/** The process that reads untrusted bytes. It has no database, no environment and no files of its own. */
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { CPU_BASE_MS, CPU_MS_PER_MIB, REPORT_ROW_BYTES, SOURCE_ROW_BYTES } from './ceilings.ts';
import { ownReader } from './reader.ts';
import { type Reply, type Request, type SourcePiece, toSent } from './reader-messages.ts';
import { Progress } from './reader-watchdog.ts';

/** A piece of the answer has at most this many estimated bytes, plus one document. */
const REPLY_BYTES = 256 * 1024;
/** A piece that has waited this long is sent, so that the parent knows which source is being read. */
const REPLY_AFTER_MS = 20;
/** The additional time before the watchdog acts. Within the budget, a source is rejected without it. */
const GRACE_MS = 1_000;
const MIB = 1024 * 1024;

// Requests have priority over reports when both need the same processor.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const progress = new Progress();
const watchdog = new Worker(new URL('./reader-watchdog.ts', import.meta.url), {
  workerData: progress.buffer,
  env: {},
  execArgv: [],
});
const isWatched = once(watchdog, 'online');
watchdog.unref();

const sources: Uint8Array[][] = [[]];
let askForMore = () => {};

process.on('message', (request: Request) => {
  if (request.kind === 'piece') request.pieces.forEach(take);
  else if (request.kind === 'more') askForMore();
  else void answer(request.nowMs);
});
process.on('disconnect', () => process.exit());

function take({ bytes, isEnd }: SourcePiece): void {
  sources.at(-1)?.push(bytes);
  if (isEnd) sources.push([]);
}

async function answer(nowMs: number): Promise<void> {
  const given = sources.splice(0, sources.length, []).slice(0, -1).map(join);
  const outbox = new Outbox();
  await isWatched;
  for (const [index, bytes] of given.entries()) {
    progress.start(CPU_BASE_MS + GRACE_MS + (CPU_MS_PER_MIB * bytes.length) / MIB, bytes.length);
    await outbox.reach(index);
    for await (const { document } of ownReader.read([bytes], nowMs))
      await outbox.add({ index, document });
  }
  progress.rest();
  await outbox.end();
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
}

/** Gathers documents, and sends them in pieces as the parent asks for them. */
class Outbox {
  #documents: Reply['documents'][number][] = [];
  #bytes = 0;
  #sentAt = performance.now();
  #at = 0;
  #isAsked: Promise<void> = Promise.resolve();

  async reach(index: number): Promise<void> {
    this.#at = index;
    if (performance.now() - this.#sentAt > REPLY_AFTER_MS) await this.#send(false);
  }

  async add(found: Parameters<typeof toSent>[0]): Promise<void> {
    const { document } = found;
    const rows = document.kind === 'report' ? (document.report.sources?.length ?? 0) : 0;
    this.#documents.push(toSent(found));
    this.#bytes += REPORT_ROW_BYTES + rows * SOURCE_ROW_BYTES;
    if (this.#bytes >= REPLY_BYTES) await this.#send(false);
  }

  async end(): Promise<void> {
    await this.#send(true);
  }

  async #send(isEnd: boolean): Promise<void> {
    await this.#isAsked;
    const { promise, resolve } = Promise.withResolvers<void>();
    askForMore = resolve;
    this.#isAsked = promise;
    const reply: Reply = { documents: this.#documents, at: this.#at, isEnd };
    process.send?.(reply);
    this.#documents = [];
    this.#bytes = 0;
    this.#sentAt = performance.now();
  }
}
