/** The process that speaks with the mail server. It has no database, no environment and no password of its own. */

import { startWatchdog } from '../../parser/parser-watchdog.ts';
import { lowerPriority } from '../../parser/priority.ts';
import { DoorFault } from './fault.ts';
import { readMailbox } from './imap.ts';
import {
  type Answered,
  type Logged,
  QUESTIONS,
  type Question,
  type ToChild,
  type ToParent,
} from './mailbox-messages.ts';
import { IMAP_LIMITS, type ImapDeps, type MailboxOptions } from './options.ts';

lowerPriority();
// A service manager or a terminal signals every process of a service. The parent says when to stop.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit());
process.on('uncaughtException', (error) => {
  const line: Logged['line'] = [{ err: error }, 'the process that reads the mailbox failed'];
  send({ level: 'error', line }, () => process.exit(1));
});

const stopping = new AbortController();
const watchdog = startWatchdog();
const waiting = new Map<number, PromiseWithResolvers<unknown>>();
let asked = 0;

process.on('message', (message: ToChild) => {
  if (message === 'stop') stopping.abort();
  else if ('begin' in message) void read(message.begin);
  else settle(message);
});

async function read(options: MailboxOptions): Promise<void> {
  const { maxCpuMs, maxMailBytes } = { ...IMAP_LIMITS, ...options.limits };
  const onProgress = () => watchdog.start(maxCpuMs, maxMailBytes);
  const questions = QUESTIONS.map((name) => [name, (...args: unknown[]) => ask(name, args)]);
  const toLog =
    (level: Logged['level']) =>
    (...line: Logged['line']) =>
      send({ level, line });
  const log = { info: toLog('info'), warn: toLog('warn'), error: toLog('error') };
  const deps = { ...Object.fromEntries(questions), log, now: () => new Date() } as ImapDeps;
  onProgress();
  await readMailbox(options, { ...deps, onProgress }, stopping.signal);
  process.disconnect();
}

function ask(question: Question, args: readonly unknown[]): Promise<unknown> {
  asked += 1;
  const answer = Promise.withResolvers<unknown>();
  waiting.set(asked, answer);
  send({ id: asked, question, args });
  return answer.promise;
}

function settle({ id, value, error }: Answered): void {
  const answer = waiting.get(id);
  waiting.delete(id);
  if (error === undefined) answer?.resolve(value);
  else if (error.isLasting === undefined) answer?.reject(new Error(error.message));
  else answer?.reject(new DoorFault(error.message, { isLasting: error.isLasting }));
}

/** When the parent has ended, so does this process. */
function send(message: ToParent, then: () => void = () => undefined): void {
  process.send?.(message, undefined, undefined, then);
}
