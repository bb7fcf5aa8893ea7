import { Worker } from 'node:worker_threads';
import { Failure, type FailureCode } from '../../domain/failure.ts';
import type { Reader } from './reader.ts';

/*
 * Reads that compute for long run in a thread with connections of its own, so that they delay no request. The thread is
 * started by the first of them, and again after it has ended; it keeps no process running that has nothing else to do.
 */

/** Runs functions that a module exports by their names, and generators, which give one value for each `next`. */
export interface AsideReads {
  readonly run: <Query, Result>(
    module: string,
    read: (reader: Reader, query: Query) => Promise<Result>,
    query: Query,
  ) => Promise<Result>;
  readonly iterate: <Query, Item>(
    module: string,
    read: (reader: Reader, query: Query) => AsyncGenerator<Item>,
    query: Query,
  ) => AsyncGenerator<Item>;
}

/** What the thread is asked. The first request of a generator starts it. */
export interface AsideRequest {
  readonly id: number;
  readonly kind: 'run' | 'start' | 'next' | 'stop';
  readonly module: string;
  readonly name: string;
  readonly query: unknown;
  /** The present password of the database. */
  readonly password: string | undefined;
}

export type AsideReply = { readonly id: number } & (
  | { readonly result: unknown }
  | { readonly failure: { readonly code: FailureCode; readonly message: string } }
  | { readonly error: Error; readonly code: unknown }
);

/** So many requests wait only when the thread cannot keep up. */
const MAX_WAITING = 200;

/** The largest sums that are kept and made take some 250. The less it may have, the sooner V8 frees what nobody uses. */
const LIMITS = { maxOldGenerationSizeMb: 384 };

export const ENDED = 'The thread of the reader has ended.';

/** Reads in this thread, for a database in memory and for commands. */
export function runHere(reader: Reader): AsideReads {
  return {
    run: (_module, read, query) => read(reader, query),
    iterate: (_module, read, query) => read(reader, query),
  };
}

export function openAside(database: string, password?: (() => string) | undefined) {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let thread: Worker | undefined;
  let last = 0;
  let isClosed = false;

  const start = (): Worker => {
    const module = new URL('./aside-thread.ts', import.meta.url);
    const started = new Worker(module, { workerData: database, resourceLimits: LIMITS });
    started.on('message', (reply: AsideReply) => {
      settle(waiting.get(reply.id), reply);
      leave(reply.id);
    });
    const end = (error: unknown) => {
      if (thread !== started) return;
      thread = undefined;
      for (const [id, { reject }] of waiting) {
        reject(error);
        waiting.delete(id);
      }
    };
    started.on('error', end).on('exit', () => end(new Error(ENDED)));
    return started;
  };

  const leave = (id: number) => {
    waiting.delete(id);
    if (waiting.size === 0) thread?.unref();
  };

  const ask = async (request: Omit<AsideRequest, 'password'>): Promise<unknown> => {
    if (isClosed) throw new Error('The database is closed.');
    if (waiting.size >= MAX_WAITING && request.kind !== 'stop')
      throw new Failure('unavailable', 'Too many reads are waiting. Try again in a moment.');
    const answer = Promise.withResolvers<unknown>();
    thread ??= start();
    thread.postMessage({ ...request, password: password?.() } satisfies AsideRequest);
    thread.ref();
    waiting.set(request.id, answer);
    return await answer.promise;
  };

  async function* iterate(module: string, name: string, query: unknown) {
    last += 1;
    const request = { id: last, module, name, query };
    let kind: AsideRequest['kind'] = 'start';
    try {
      for (;;) {
        const step = (await ask({ ...request, kind })) as IteratorResult<unknown>;
        kind = 'next';
        if (step.done) return;
        yield step.value;
      }
    } finally {
      if (thread !== undefined && !isClosed) await ask({ ...request, kind: 'stop' });
    }
  }

  const aside: AsideReads = {
    run: async (module, read, query) => {
      last += 1;
      return (await ask({ id: last, kind: 'run', module, name: read.name, query })) as never;
    },
    iterate: (module, read, query) => iterate(module, read.name, query) as never,
  };
  const close = async () => {
    isClosed = true;
    await thread?.terminate();
  };
  return { aside, close };
}

function settle(answer: PromiseWithResolvers<unknown> | undefined, reply: AsideReply): void {
  if ('result' in reply) answer?.resolve(reply.result);
  else if ('failure' in reply)
    answer?.reject(new Failure(reply.failure.code, reply.failure.message));
  else answer?.reject(Object.assign(reply.error, { code: reply.code }));
}
