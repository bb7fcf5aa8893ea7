import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Refusal } from '../../domain/refusal.ts';
import type { DocumentReader, FoundDocument } from './reader.ts';
import { type Reply, type Request, type SourcePiece, toFound } from './reader-messages.ts';

/** The heap of the process that reads. An honest report needs a tenth of it. */
const HEAP_MB = 192;
const PIECE_BYTES = 256 * 1024;

export interface ReaderProcess extends DocumentReader {
  /** The id of the process, undefined while there is none. */
  readonly pid: number | undefined;
  /** Ends the process. */
  close(): Promise<void>;
}

/**
 * Reads in a process of its own, which is started on demand, and again after it has ended. A source that
 * exhausts memory or loops there becomes a rejected document, and the other sources are read. A thread with
 * `resourceLimits` would share its memory outside the heap, crashes of native code and the CPU figures with
 * the process that serves and stores.
 */
export function createReaderProcess(): ReaderProcess {
  let child: ChildProcess | undefined;
  const start = (): ChildProcess => {
    // A process that was just killed exists for a moment longer.
    if (child === undefined || child.killed || !child.connected) child = forkChild();
    return child;
  };
  return {
    get pid() {
      return child?.pid;
    },
    read: (sources, nowMs) => readSurviving(start, sources, nowMs),
    close: async () => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

function forkChild(): ChildProcess {
  const script = new URL('./reader-child.ts', import.meta.url);
  return fork(script, {
    execArgv: [`--max-old-space-size=${HEAP_MB}`, '--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
    // Node's message about exhausted memory is not useful, and untrusted bytes must not see secrets.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: toCacheEnv(),
  });
}

/** Where this process keeps compiled code, if it does: compiling takes two thirds of the child's start. */
function toCacheEnv(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir();
  // Node adds a folder for its version.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

/** When the process ends while it reads several sources, each is read again by itself, to find the cause. */
async function* readSurviving(
  start: () => ChildProcess,
  sources: readonly Uint8Array[],
  nowMs: number,
): AsyncGenerator<FoundDocument> {
  const counts = sources.map(() => 0);
  const read = new Reading(start(), sources, nowMs);
  for await (const found of read.documents()) {
    counts[found.index] = (counts[found.index] ?? 0) + 1;
    yield found;
  }
  if (read.end === undefined) return;
  for (const [index, bytes] of sources.entries()) {
    if (index < read.at) continue;
    const isCulprit = sources.length === 1 && index === read.at;
    if (isCulprit) yield { index, document: toRejected(read.end) };
    else yield* skip(readSurviving(start, [bytes], nowMs), counts[index] ?? 0, index);
  }
}

/** The documents of one source after those that were returned before. */
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
}

function toRejected({ signal }: End): FoundDocument['document'] {
  const refusal =
    signal === 'SIGXCPU'
      ? new Refusal('too_costly', 'The source was not read to its end: reading it takes too long.')
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
  /** The first source whose documents may be incomplete. */
  at = 0;
  readonly #child: ChildProcess;
  readonly #ended = Promise.withResolvers<End>();
  #reply = Promise.withResolvers<Reply>();

  constructor(child: ChildProcess, sources: readonly Uint8Array[], nowMs: number) {
    this.#child = child;
    child.on('message', this.#onReply).once('exit', this.#onExit);
    void this.#ask(sources, nowMs);
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
      this.#child.off('message', this.#onReply).off('exit', this.#onExit);
      // The rest of the answer is not needed: the next request needs a child without one.
      if (!isEnd) this.#child.kill('SIGKILL');
    }
  }

  /**
   * Sends a large source piece by piece, each after the one before was written, so that no second copy is in
   * memory.
   */
  async #ask(sources: readonly Uint8Array[], nowMs: number): Promise<void> {
    for (const pieces of toPieces(sources)) await this.#send({ kind: 'piece', pieces });
    await this.#send({ kind: 'read', nowMs });
  }

  #send(request: Request): Promise<void> {
    // When the child has ended, sending fails. Its exit is the error that counts.
    return new Promise((resolve) => {
      if (this.#child.connected) this.#child.send(request, () => resolve());
      else resolve();
    });
  }

  readonly #onReply = (reply: unknown): void => this.#reply.resolve(reply as Reply);

  readonly #onExit = (_code: number | null, signal: NodeJS.Signals | null): void =>
    this.#ended.resolve({ signal });
}

/** Sources in pieces, the pieces of small sources together in one message. */
function* toPieces(sources: readonly Uint8Array[]): Generator<SourcePiece[]> {
  let [pieces, size]: [SourcePiece[], number] = [[], 0];
  for (const bytes of sources) {
    for (let at = 0; at === 0 || at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      pieces.push({ bytes: piece, size: bytes.length });
      size += piece.length;
      if (size < PIECE_BYTES) continue;
      yield pieces;
      [pieces, size] = [[], 0];
    }
  }
  if (pieces.length > 0) yield pieces;
}
