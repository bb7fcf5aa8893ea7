/** The process that reads untrusted bytes. It has no database, no environment and no files of its own. */
import { once } from 'node:events';
import { readSync } from 'node:fs';
import { REPORT_ROW_BYTES, SOURCE_ROW_BYTES } from '../limits.ts';
import { localParser, toCpuMs } from './parser.ts';
import { READY, type Reply, type Request, toSent } from './parser-messages.ts';
import { startWatchdog } from './parser-watchdog.ts';
import { lowerPriority } from './priority.ts';

/** A piece of the answer has at most this many estimated bytes, plus one document. */
const REPLY_BYTES = 256 * 1024;
/** A piece that has waited this long is sent, so that the parent knows which input is being read. */
const REPLY_AFTER_MS = 20;
const STANDARD_INPUT = 0;
/** The additional time before the watchdog acts. Within the budget, an input is rejected without it. */
const GRACE_MS = 1_000;

lowerPriority();

const watchdog = startWatchdog();
const isWatched = once(watchdog.thread, 'online').then(() => process.send?.(READY));
watchdog.thread.unref();

let askForMore = () => {};

process.on('message', (request: Request) => {
  if (request.kind === 'more') askForMore();
  else void answer(request);
});
process.on('disconnect', () => process.exit());
// A service manager or a terminal signals every process of a service. The parent decides when reading ends: a
// input that ended its reader would be rejected.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);

async function answer(request: Extract<Request, { kind: 'read' }>): Promise<void> {
  const { sizes, nowMs, wanted } = request;
  const outbox = new Outbox();
  await isWatched;
  for (const [index, size] of sizes.entries()) {
    const bytes = receive(size);
    watchdog.start(toCpuMs(size, wanted) + GRACE_MS, size);
    await outbox.reach(index);
    for await (const { document } of localParser.read([bytes], nowMs, wanted))
      await outbox.add({ index, document });
  }
  // The last input may still be in memory until its documents are sent.
  await outbox.end();
  watchdog.rest();
}

/** The next bytes from standard input, which the parent sends without being asked. */
function receive(size: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size);
  let length = 0;
  while (length < size) {
    const read = readSync(STANDARD_INPUT, bytes, length, size - length, null);
    // The parent has ended.
    if (read === 0) process.exit();
    length += read;
  }
  return bytes;
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
