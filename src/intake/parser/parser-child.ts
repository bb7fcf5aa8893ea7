/** The process that parses untrusted bytes. It has no database, no environment and no files of its own. */
import { once } from 'node:events';
import { readSync } from 'node:fs';
import { estimateBytes } from '../budget.ts';
import type { IntakeDocument } from '../intake-document.ts';
import { localParser, toCpuMs } from './parser.ts';
import { READY, type Reply, type Request, toSent } from './parser-messages.ts';
import { startWatchdog } from './parser-watchdog.ts';
import { lowerPriority } from './priority.ts';

/** A reply has at most this many estimated bytes, plus one document. */
const REPLY_BYTES = 256 * 1024;
const STANDARD_INPUT = 0;
/** The additional time before the watchdog acts. Within the budget, an input is rejected without it. */
const GRACE_MS = 1_000;

lowerPriority();

const watchdog = startWatchdog();
const isWatched = once(watchdog.thread, 'online').then(() => process.send?.(READY));
watchdog.thread.unref();

let sendNext = () => {};

process.on('message', (request: Request) => {
  if (request.kind === 'more') sendNext();
  else void answer(request);
});
process.on('disconnect', () => process.exit());
// A service manager or a terminal signals every process of a service. The parent decides when parsing ends: an
// input that ended its parser would be rejected.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);

async function answer({ size, ...options }: Extract<Request, { kind: 'parse' }>): Promise<void> {
  await isWatched;
  const bytes = receive(size);
  watchdog.start(toCpuMs(size, options.requested) + GRACE_MS, size);
  let [documents, replyBytes]: [IntakeDocument[], number] = [[], 0];
  for await (const document of localParser.parse(bytes, options)) {
    documents.push(document);
    replyBytes += estimateBytes(document.kind === 'report' ? document.report : undefined);
    if (replyBytes < REPLY_BYTES) continue;
    const isAsked = new Promise<void>((resolve) => {
      sendNext = resolve;
    });
    reply({ documents: documents.map(toSent), isEnd: false });
    [documents, replyBytes] = [[], 0];
    await isAsked;
  }
  reply({ documents: documents.map(toSent), isEnd: true });
  watchdog.rest();
}

function reply(message: Reply): void {
  process.send?.(message);
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
