import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { serialize } from 'node:v8';
import { Failure } from '../../domain/failure.ts';
import { Refusal, toEnd } from '../../domain/reports/refusal.ts';
import { maxCpuMs } from '../budget.ts';
import { type IntakeDocument, toRejected } from '../intake-document.ts';
import type { Claim, Verification } from '../verification/claim.ts';
import type { Checker, ParseOptions, Parser } from './parser.ts';
import {
  type Asked,
  type ParserReply,
  type ParserRequest,
  READY,
  toReceived,
} from './parser-messages.ts';

/** The heap of the process that parses. An honest report needs a tenth of it. */
const HEAP_MB = 192;
/** The signal with which the watchdog ends the process for its use of CPU. */
const TOOK_TOO_LONG = 'SIGXCPU';

export interface ParserProcess extends Parser, Checker {
  readonly pid: number | undefined;
  /** Ends the process at once. What it parses throws `unavailable`. */
  kill(): void;
  close(): Promise<void>;
}

/**
 * Parses one input at a time in a process of its own, started on demand and again after it has ended. An input that
 * exhausts memory or loops there becomes a rejected document. A thread with `resourceLimits` would share memory
 * outside the heap, crashes of native code and the CPU figures with the process that serves and stores.
 */
export function createParserProcess(): ParserProcess {
  let child: ChildProcess | undefined;
  const start = () => {
    if (child !== undefined && isRunning(child) && !child.killed && child.stdin?.writable)
      return { child, isNew: false };
    child = forkChild();
    return { child, isNew: true };
  };
  return {
    get pid() {
      return child?.pid;
    },
    parse: (bytes, options) => parseSurviving(start, bytes, options),
    check: (bytes, claim) => checkSurviving(start, bytes, claim),
    kill: () => void child?.kill('SIGKILL'),
    close: async () => {
      if (child === undefined || !isRunning(child)) return;
      const ended = once(child, 'exit');
      child.stdin?.end();
      await ended;
    },
  };
}

/** A process that could not be created has no id. */
const isRunning = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid !== undefined && exitCode === null && signalCode === null;

/** A process for untrusted bytes. */
function forkChild(): ChildProcess {
  const child = fork(new URL('./parser-child.ts', import.meta.url), {
    execArgv: [`--max-old-space-size=${HEAP_MB}`, '--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
    // Node's message about exhausted memory is not useful, and untrusted bytes must not see secrets.
    stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
    env: toCacheEnv(),
  });
  // When the child has ended, writing fails. Its exit is the error that counts.
  child.stdin?.on('error', () => undefined);
  // Whoever waits for the child's answer gets the error.
  child.on('error', () => undefined);
  return child;
}

/** Where this process keeps compiled code, if it does: compiling takes two thirds of the child's start. */
export function toCacheEnv(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir();
  // Node adds a folder for its version.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

/**
 * An input that ends a new process is the cause of its end. An older process may have ended because of memory that
 * earlier inputs left, so the input is parsed again in a new one. Time says nothing of an input: one that takes too
 * long is unreadable for now. Throws `unavailable` when no process starts, and after `kill`.
 */
async function* parseSurviving(
  start: Start,
  bytes: Uint8Array,
  options: ParseOptions,
): AsyncGenerator<IntakeDocument> {
  let [returned, reports] = [0, 0];
  for (;;) {
    const exchange = new Exchange(start());
    for await (const document of skip(toDocuments(exchange.replies(bytes, options)), returned)) {
      returned += 1;
      reports += Number(document.kind === 'report');
      yield document;
    }
    const { end } = exchange;
    if (end === undefined) return;
    if (exchange.isBlamed)
      return yield toRejected(toEnd(toRefusal(end, maxCpuMs(bytes.length, options)), reports));
  }
}

type Start = () => { readonly child: ChildProcess; readonly isNew: boolean };

async function* toDocuments(replies: AsyncIterable<ParserReply>): AsyncGenerator<IntakeDocument> {
  for await (const { documents } of replies) yield* documents.map(toReceived);
}

/** What ends the process is in nobody's name, and is not read: it has cost too much. */
const GIVEN_UP: Verification = {
  ...{ from: '', signers: [], questions: [], cost: Number.POSITIVE_INFINITY },
};

async function checkSurviving(
  start: Start,
  bytes: Uint8Array,
  claim: Claim,
): Promise<Verification> {
  for (;;) {
    const exchange = new Exchange(start());
    for await (const { verdict } of exchange.replies(bytes, { claim })) if (verdict) return verdict;
    if (exchange.isBlamed) return GIVEN_UP;
  }
}

async function* skip<T>(items: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  let left = count;
  for await (const item of items) {
    if (left <= 0) yield item;
    left -= 1;
  }
}

interface End {
  readonly signal: NodeJS.Signals | null;
  /** Why the process could not be started. */
  readonly error?: Error;
}

function toNotStarted({ signal, error }: End): Failure {
  const reason = error?.message ?? signal ?? 'it ended at once';
  return new Failure('unavailable', `The process that reads reports does not start: ${reason}.`);
}

function toRefusal({ signal }: End, cpuMs: number): Refusal {
  const failed = 'The process that reads ended: it ran out of memory or failed.';
  if (signal !== TOOK_TOO_LONG) return new Refusal('reader_failed', failed);
  const seconds = Math.round(cpuMs / 1000);
  return new Refusal('unreadable', `Reading it was given up after ${seconds} s of CPU time.`);
}

class Exchange {
  /** How the child ended, when it ended before its answer was complete. */
  end: End | undefined;
  /** Whether a new child has started. Before, it parses nothing, so no input can be the cause of its end. */
  hasStarted = false;
  readonly #child: ChildProcess;
  readonly #isNew: boolean;
  readonly #ended = Promise.withResolvers<End>();
  #reply = Promise.withResolvers<ParserReply>();

  constructor({ child, isNew }: ReturnType<Start>) {
    this.#child = child;
    this.#isNew = isNew;
  }

  /** Whether the input is the cause of the end. Throws when no input can be. */
  get isBlamed(): boolean {
    const { end } = this;
    if (end && (this.#child.killed || (this.#isNew && !this.hasStarted))) throw toNotStarted(end);
    return this.#isNew || end?.signal === TOOK_TOO_LONG;
  }

  async *replies(bytes: Uint8Array, asked: Asked): AsyncGenerator<ParserReply> {
    const child = this.#child;
    child.on('message', this.#onMessage).once('exit', this.#onExit).once('error', this.#onError);
    let isEnd = false;
    try {
      this.#ask(bytes, asked);
      while (!isEnd) {
        const reply = await Promise.race([this.#reply.promise, this.#ended.promise]);
        if ('signal' in reply) {
          this.end = reply;
          return;
        }
        this.#reply = Promise.withResolvers();
        ({ isEnd } = reply);
        // Requested at once, so that the child continues to parse while these documents are stored.
        if (!isEnd) child.stdin?.write('\n');
        yield reply;
      }
    } finally {
      child.off('message', this.#onMessage).off('exit', this.#onExit).off('error', this.#onError);
      // The rest of the answer is not needed: the next request needs a child without one.
      if (!isEnd) child.kill('SIGKILL');
    }
  }

  /** Nothing is copied: the stream holds the input itself until the child has taken it. */
  #ask(bytes: Uint8Array, asked: Asked): void {
    const { stdin } = this.#child;
    const request = serialize({ asked, size: bytes.length } satisfies ParserRequest);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(request.length);
    stdin?.cork();
    for (const part of [length, request, bytes]) stdin?.write(part);
    stdin?.uncork();
  }

  readonly #onMessage = (message: unknown): void => {
    if (message === READY) this.hasStarted = true;
    else this.#reply.resolve(message as ParserReply);
  };

  readonly #onExit = (_code: number | null, signal: NodeJS.Signals | null): void =>
    this.#ended.resolve({ signal });

  readonly #onError = (error: Error): void => this.#ended.resolve({ signal: null, error });
}
