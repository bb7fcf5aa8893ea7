import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { Refusal } from '../../domain/reports/refusal.ts';
import type { RequestedReport } from '../report/requested.ts';
import type { FoundDocument, Parser } from './parser.ts';
import { READY, type Reply, type Request, toFound } from './parser-messages.ts';

/** The heap of the process that reads. An honest report needs a tenth of it. */
const HEAP_MB = 192;
/** The signal with which the watchdog ends the process for its use of CPU. */
const TOOK_TOO_LONG = 'SIGXCPU';

export interface ParserProcess extends Parser {
  /** The id of the process, undefined while there is none. */
  readonly pid: number | undefined;
  /** Ends the process. */
  close(): Promise<void>;
}

/**
 * Reads in a process of its own, which is started on demand, and again after it has ended. An input that
 * exhausts memory or loops there becomes a rejected document, and the other inputs are read. A thread with
 * `resourceLimits` would share its memory outside the heap, crashes of native code and the CPU figures with
 * the process that serves and stores.
 */
export function createParserProcess(): ParserProcess {
  let child: ChildProcess | undefined;
  const start = (): Started => {
    // A process that was just killed exists for a moment longer. One that could not be created has no id.
    if (child?.pid !== undefined && !child.killed && child.connected)
      return { child, isNew: false };
    child = forkChild();
    return { child, isNew: true };
  };
  return {
    get pid() {
      return child?.pid;
    },
    read: (inputs, nowMs, wanted) => readSurviving(start, { inputs, nowMs, wanted }),
    close: async () => {
      if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

function forkChild(): ChildProcess {
  const script = new URL('./parser-child.ts', import.meta.url);
  const child = fork(script, {
    execArgv: [`--max-old-space-size=${HEAP_MB}`, '--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
    // Node's message about exhausted memory is not useful, and untrusted bytes must not see secrets.
    stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
    env: toCacheEnv(),
  });
  // When the child has ended, writing fails. Its exit is the error that counts.
  child.stdin?.on('error', () => undefined);
  // A reading that waits for the child reports the error.
  child.on('error', () => undefined);
  return child;
}

/** Where this process keeps compiled code, if it does: compiling takes two thirds of the child's start. */
function toCacheEnv(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir();
  // Node adds a folder for its version.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

interface Started {
  readonly child: ChildProcess;
  /** Whether it has read nothing yet. */
  readonly isNew: boolean;
}

/**
 * When the process ends while it reads several inputs, each is read again by itself, to find the cause. An input
 * that a new process reads alone is the cause. Otherwise the process may have ended because of the memory that
 * inputs before it left. Throws `unavailable` when a process does not start.
 */
async function* readSurviving(start: () => Started, asked: Asked): AsyncGenerator<FoundDocument> {
  const { inputs } = asked;
  const counts = inputs.map(() => 0);
  const { child, isNew } = start();
  const read = new Reading(child, asked);
  for await (const found of read.documents()) {
    counts[found.index] = (counts[found.index] ?? 0) + 1;
    yield found;
  }
  if (read.end === undefined) return;
  if (isNew && !read.hasStarted) throw toNotStarted(read.end);
  if (inputs.length === 1 && (isNew || read.end.signal === TOOK_TOO_LONG))
    yield { index: 0, document: toRejected(read.end) };
  else yield* readEach(start, { ...asked, from: read.at, counts });
}

interface Asked {
  readonly inputs: readonly Uint8Array[];
  readonly nowMs: number;
  readonly wanted?: RequestedReport | undefined;
}

interface Rest extends Asked {
  /** The first input whose documents may be incomplete. */
  readonly from: number;
  /** How many documents of each input were returned already. */
  readonly counts: readonly number[];
}

/** Reads the rest of the inputs, each by itself. */
async function* readEach(
  start: () => Started,
  { inputs, from, counts, ...asked }: Rest,
): AsyncGenerator<FoundDocument> {
  for (const [index, bytes] of inputs.entries()) {
    if (index < from) continue;
    yield* skip(readSurviving(start, { ...asked, inputs: [bytes] }), counts[index] ?? 0, index);
  }
}

/** The documents of one input after those that were returned before. */
async function* skip(
  documents: AsyncIterable<FoundDocument>,
  count: number,
  index: number,
): AsyncGenerator<FoundDocument> {
  let passed = 0;
  for await (const { document } of documents) {
    passed += 1;
    if (passed > count) yield { index, document };
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

function toRejected({ signal }: End): FoundDocument['document'] {
  const refusal =
    signal === TOOK_TOO_LONG
      ? new Refusal('too_costly', 'The input was not read to its end: reading it takes too long.')
      : new Refusal(
          'reader_failed',
          'The process that reads ended: it ran out of memory or failed.',
        );
  return { kind: 'rejected', member: [], refusal };
}

/** One request to the child and its answer. */
class Reading {
  /** How the child ended, when it ended before its answer was complete. */
  end: End | undefined;
  /** The first input whose documents may be incomplete. */
  at = 0;
  /** Whether a new child has started. Before, it reads nothing, so no input can be the cause of its end. */
  hasStarted = false;
  readonly #child: ChildProcess;
  readonly #ended = Promise.withResolvers<End>();
  #reply = Promise.withResolvers<Reply>();

  constructor(child: ChildProcess, asked: Asked) {
    this.#child = child;
    child.on('message', this.#onReply).once('exit', this.#onExit).once('error', this.#onError);
    void this.#ask(asked);
  }

  async *documents(): AsyncGenerator<FoundDocument> {
    let isEnd = false;
    try {
      while (!isEnd) {
        const reply = await Promise.race([this.#reply.promise, this.#ended.promise]);
        if ('signal' in reply) {
          this.end = reply;
          return;
        }
        ({ at: this.at, isEnd } = reply);
        this.#reply = Promise.withResolvers();
        // Requested at once, so that the child continues to read while these documents are stored.
        if (!isEnd) await this.#send({ kind: 'more' });
        yield* reply.documents.map(toFound);
      }
    } finally {
      this.#child
        .off('message', this.#onReply)
        .off('exit', this.#onExit)
        .off('error', this.#onError);
      // The rest of the answer is not needed: the next request needs a child without one.
      if (!isEnd) this.#child.kill('SIGKILL');
    }
  }

  /** Nothing is copied: the stream holds the inputs themselves until the child has taken them. */
  async #ask({ inputs, nowMs, wanted }: Asked): Promise<void> {
    const sizes = inputs.map(({ length }) => length);
    await this.#send({ kind: 'read', sizes, nowMs, wanted });
    this.#child.stdin?.cork();
    for (const bytes of inputs) this.#child.stdin?.write(bytes);
    this.#child.stdin?.uncork();
  }

  #send(request: Request): Promise<void> {
    // Sending fails as writing does.
    return new Promise((resolve) => {
      if (this.#child.connected) this.#child.send(request, () => resolve());
      else resolve();
    });
  }

  readonly #onReply = (reply: unknown): void => {
    if (reply === READY) this.hasStarted = true;
    else this.#reply.resolve(reply as Reply);
  };

  readonly #onExit = (_code: number | null, signal: NodeJS.Signals | null): void =>
    this.#ended.resolve({ signal });

  readonly #onError = (error: Error): void => this.#ended.resolve({ signal: null, error });
}
