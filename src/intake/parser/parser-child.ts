/** The process that parses untrusted bytes. It has no database, no environment and no files of its own. */
import { once } from 'node:events';
import { readSync } from 'node:fs';
import { deserialize } from 'node:v8';
import { maxCpuMs } from '../budget.ts';
import { estimateSize, type IntakeDocument } from '../intake-document.ts';
import { localParser } from './parser.ts';
import { type ParserReply, type ParserRequest, READY, toSent } from './parser-messages.ts';
import { startWatchdog } from './parser-watchdog.ts';
import { lowerPriority } from './priority.ts';

/** A reply has at most this many estimated bytes, plus one document. */
const REPLY_BYTES = 256 * 1024;
const STANDARD_INPUT = 0;

lowerPriority();
// A service manager or a terminal signals every process of a service. The parent decides when parsing ends: an input
// that ended its parser would be rejected.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);

const watchdog = startWatchdog();
await once(watchdog.thread, 'online');
await send(READY);
for (;;) await answer(deserialize(receive(receive(4).readUInt32LE())));

async function answer({ size, asked }: ParserRequest): Promise<void> {
  const bytes = receive(size);
  watchdog.start(maxCpuMs(size, 'claim' in asked ? asked.claim : asked), size);
  if ('claim' in asked) {
    const verdict = await localParser.check(bytes, asked.claim);
    await send({ documents: [], isEnd: true, verdict });
  } else await answerDocuments(localParser.parse(bytes, asked));
  watchdog.rest();
}

async function answerDocuments(found: AsyncIterable<IntakeDocument>): Promise<void> {
  let [documents, replyBytes]: [IntakeDocument[], number] = [[], 0];
  for await (const document of found) {
    documents.push(document);
    replyBytes += estimateSize(document);
    if (replyBytes < REPLY_BYTES) continue;
    await send({ documents: documents.map(toSent), isEnd: false });
    [documents, replyBytes] = [[], 0];
    receive(1);
  }
  await send({ documents: documents.map(toSent), isEnd: true });
}

/** Resolves when the message is written: a thread that waits for standard input writes nothing. */
function send(message: ParserReply | typeof READY): Promise<void> {
  return new Promise((resolve) => process.send?.(message, () => resolve()));
}

/** The next bytes from standard input. Ends the process when its parent has ended it. */
function receive(size: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size);
  let length = 0;
  while (length < size) {
    const read = readSync(STANDARD_INPUT, bytes, length, size - length, null);
    if (read === 0) process.exit();
    length += read;
  }
  return bytes;
}
