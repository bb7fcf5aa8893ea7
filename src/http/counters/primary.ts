import type { Worker } from 'node:cluster';
import { type ClientRateLimitInfo, MemoryStore, type Options } from 'express-rate-limit';
import type { Logger } from 'pino';
import { Counters, incrementIn, type LimitedClient, type SharedCounter } from './counters.ts';

/* Workers of node:cluster count in the primary process, in one message for each iteration of the event loop. */

/** A primary that is alive only counts and passes on connections. */
const TIME_LIMIT_MS = 2_000;

interface CountRequest {
  readonly type: 'plumbline:count';
  readonly hits: readonly Hit[];
}

interface Hit extends LimitedClient {
  readonly id: number;
  readonly change: 1 | -1;
}

interface CountResponse {
  readonly type: 'plumbline:counted';
  readonly counts: readonly Count[];
}

/** `resetAt` is by the machine's clock, which both processes have. */
interface Count {
  readonly id: number;
  readonly totalHits: number;
  readonly resetAt: number;
}

/** A process is the primary of one cluster, whose workers share these. */
const limits = new Map<string, MemoryStore>();

/** Either end of the channel. */
export type Channel = Pick<Worker, 'on' | 'off' | 'send'>;

/** Counts for a worker, in the primary process. */
export function serveCounters(worker: Channel): void {
  worker.on('message', (message: CountRequest | null) => {
    if (message?.type !== 'plumbline:count') return;
    const response: CountResponse = { type: 'plumbline:counted', counts: message.hits.map(count) };
    // With a callback, a worker that has ended meanwhile is no error.
    worker.send(response, () => {});
  });
}

function count({ id, limit, key, windowMs, change }: Hit): Count {
  const store = limits.get(limit) ?? createLimit(limit, windowMs);
  if (change === 1) {
    const { totalHits, resetTime } = incrementIn(store, key);
    return { id, totalHits, resetAt: resetTime?.getTime() ?? 0 };
  }
  void store.decrement(key);
  return { id, totalHits: 0, resetAt: 0 };
}

function createLimit(limit: string, windowMs: number): MemoryStore {
  const store = new MemoryStore();
  store.init({ windowMs } as Options);
  limits.set(limit, store);
  return store;
}

/** Counts in the primary process, which calls `serveCounters`. */
export async function countInPrimary(primary: Channel, log: Logger): Promise<Counters> {
  const name = 'the primary process';
  const create = () => createPrimaryCounter(primary);
  const counters = new Counters(log, { name, timeLimitMs: TIME_LIMIT_MS, create });
  await counters.connect();
  return counters;
}

/** Never used again, so that an answer to an earlier connection is not taken for another one. */
let lastId = 0;

function createPrimaryCounter(primary: Channel): SharedCounter {
  const waiting = new Map<number, (info: ClientRateLimitInfo) => void>();
  let unsent: Hit[] = [];
  const send = () => {
    // With a callback, a primary that has ended is no error here. Its answer will be late.
    primary.send({ type: 'plumbline:count', hits: unsent }, () => {});
    unsent = [];
  };
  const ask = (client: LimitedClient, change: 1 | -1) =>
    new Promise<ClientRateLimitInfo>((resolve) => {
      lastId += 1;
      if (unsent.length === 0) setImmediate(send);
      unsent.push({ ...client, id: lastId, change });
      waiting.set(lastId, resolve);
    });
  const receive = (message: CountResponse | null) => {
    if (message?.type !== 'plumbline:counted') return;
    for (const { id, totalHits, resetAt } of message.counts) {
      waiting.get(id)?.({ totalHits, resetTime: new Date(resetAt) });
      waiting.delete(id);
    }
  };
  return {
    open: async () => void primary.on('message', receive),
    increment: (client) => ask(client, 1),
    decrement: (client) => ask(client, -1),
    close: () => void primary.off('message', receive),
  };
}
