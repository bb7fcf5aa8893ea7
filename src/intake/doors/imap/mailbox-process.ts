import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { forkChild } from '../../parser/parser-process.ts';
import { readSecrets } from './credentials.ts';
import { DoorFault, toRetryMs } from './fault.ts';
import type { Answered, Asked, ToChild, ToParent } from './mailbox-messages.ts';
import { IMAP_LIMITS, type ImapDeps, type ImapOptions } from './options.ts';

/** The heap of the process. Texts of mails are outside of it. */
const HEAP_MB = 128;
/** The process has ended its command by then, or does not respond. */
const GRACE_MS = 500;

/**
 * Reads a mailbox in a process of its own until the signal is aborted: what a server says is parsed neither where
 * requests are answered nor where reports are stored. The process is started again when it has ended. Never throws.
 */
export async function readMailboxApart(
  { credentials, caFile, ...options }: ImapOptions,
  deps: Omit<ImapDeps, 'readSecrets'>,
  signal: AbortSignal,
): Promise<void> {
  const { door } = options;
  const limits = { ...IMAP_LIMITS, ...options.limits };
  const answers = { ...deps, readSecrets: () => readSecrets({ credentials, caFile }, signal) };
  for (let failures = 0; !signal.aborted; failures += 1) {
    const startedAt = performance.now();
    const why = await run(options, answers, signal);
    if (signal.aborted) return;
    if (performance.now() - startedAt > limits.maxRetryMs) failures = 0;
    const fault = new DoorFault(`The process that reads the mailbox ended: ${why}.`);
    const retryMs = toRetryMs(fault, failures, limits);
    deps.log.error({ door, retry_ms: retryMs }, `${door}: ${fault.message}`);
    await deps.noteDoor(door, fault.message).catch((err: unknown) => deps.log.error({ err }));
    await sleep(retryMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Resolves when the process has ended, with the reason. */
async function run(
  options: Omit<ImapOptions, 'credentials' | 'caFile'>,
  deps: ImapDeps,
  signal: AbortSignal,
): Promise<string> {
  const ca = process.env['NODE_EXTRA_CA_CERTS'];
  const env = ca === undefined ? {} : { NODE_EXTRA_CA_CERTS: ca };
  const child = forkChild(new URL('./mailbox-child.ts', import.meta.url), HEAP_MB, env);
  child.on('message', (message: ToParent) => {
    if ('level' in message) deps.log[message.level](...message.line);
    else void answer(message, deps).then((answered) => send(child, answered));
  });
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  let killing: NodeJS.Timeout | undefined;
  const stop = () => {
    send(child, 'stop');
    const { stopMs } = { ...IMAP_LIMITS, ...options.limits };
    killing = setTimeout(() => child.kill('SIGKILL'), stopMs + GRACE_MS);
  };
  signal.addEventListener('abort', stop, { once: true });
  send(child, { begin: options });
  try {
    return describeEnd(...(await ended));
  } catch (error) {
    return (error as Error).message;
  } finally {
    signal.removeEventListener('abort', stop);
    clearTimeout(killing);
    child.kill('SIGKILL');
  }
}

function answer({ id, question, args }: Asked, deps: ImapDeps): Promise<Answered> {
  const ask = deps[question] as (...args: readonly unknown[]) => Promise<unknown>;
  return ask(...args).then(
    (value) => ({ id, value }),
    ({ message, isLasting }: Error & Partial<DoorFault>) => ({ id, error: { message, isLasting } }),
  );
}

/** A process that has ended gets no answer. */
function send(child: ChildProcess, message: ToChild): void {
  child.send(message, () => undefined);
}

/** The signals are those of the watchdog (parser-watchdog.ts). */
function describeEnd(status: number | null, signal: NodeJS.Signals | null): string {
  if (signal === 'SIGXCPU') return 'the server keeps it busy without giving a mail';
  if (signal === 'SIGKILL') return 'it used too much memory, or was killed';
  return signal === null ? `it failed with exit status ${status}` : `by ${signal}`;
}
