import type { ClientRateLimitInfo, Store } from 'express-rate-limit';
import type { Logger } from 'pino';
import { SteadyStore } from '../../domain/steady-store.ts';

const OPEN_TIMEOUT_MS = 1_000;
/** The longest wait for one count. A request of the API is counted twice. */
const COUNT_TIMEOUT_MS = 100;
const RETRY_MS = 2_000;
/**
 * A time limit is counted in intervals of this length, of which one iteration of the event loop counts at most one: an
 * answer that this process was too busy to read is not late.
 */
const TICK_MS = 10;
const PROBE: LimitedClient = { limit: 'probe', key: '', windowMs: 60_000 };

/** One client of one limit, such as an API key and `key`. */
export interface LimitedClient {
  readonly limit: string;
  readonly key: string;
  readonly windowMs: number;
}

/** A connection to what counts for several processes. It is used until a call rejects or is late, then closed. */
export interface SharedCounter {
  readonly open: () => Promise<unknown>;
  readonly increment: (client: LimitedClient) => Promise<ClientRateLimitInfo>;
  readonly decrement: (client: LimitedClient) => Promise<unknown>;
  readonly close: () => void;
}

/**
 * Limits that several processes count together (decision 70). Each process counts its own requests in memory as
 * well. After one failed or late count only that is used, so no request waits, until a new connection has counted.
 */
export class Counters {
  readonly #log: Logger;
  readonly #create: (onLost: (error: Error) => void) => SharedCounter;
  /** The connection that is used or being opened. */
  #counter: SharedCounter | undefined;
  #state: 'starting' | 'shared' | 'alone' | 'closed' = 'starting';
  #retry: NodeJS.Timeout | undefined;

  /** `create` makes a connection, and may call `onLost` at any time after that. */
  constructor(log: Logger, create: (onLost: (error: Error) => void) => SharedCounter) {
    this.#log = log;
    this.#create = create;
  }

  /** The counts of one limit. They never reject. */
  createStore(limit: string): Store {
    const own = new SteadyStore();
    let windowMs = 0;
    const toClient = (key: string) => ({ limit, key, windowMs });
    return {
      // Keys of two limits can be the same; the library tells stores apart by this.
      prefix: `${limit}:`,
      localKeys: false,
      init: (options) => {
        windowMs = options.windowMs;
        own.init(options);
      },
      increment: async (key) => {
        const info = incrementIn(own, key);
        return (await this.#ask((counter) => counter.increment(toClient(key)))) ?? info;
      },
      decrement: async (key) => {
        void own.decrement(key);
        await this.#ask((counter) => counter.decrement(toClient(key)));
      },
      resetKey: (key) => own.resetKey(key),
    };
  }

  isShared(): boolean {
    return this.#state === 'shared';
  }

  /** Makes one attempt; when it fails, more follow in the background. Never rejects. */
  async connect(): Promise<void> {
    let counter: SharedCounter | undefined;
    try {
      counter = this.#create((error) => this.#lose(counter, error));
      this.#counter = counter;
      await this.#check(counter);
      if (counter !== this.#counter) return;
      if (this.#state === 'alone') this.#log.info('limits are counted by Redis again');
      this.#state = 'shared';
    } catch (error) {
      this.#lose(counter, error as Error);
    }
  }

  close(): void {
    this.#state = 'closed';
    clearTimeout(this.#retry);
    this.#counter?.close();
    this.#counter = undefined;
  }

  /** Finds what a connection alone does not: too little memory, a replica, missing rights, slow answers. */
  async #check(counter: SharedCounter): Promise<void> {
    await inTime(counter.open(), OPEN_TIMEOUT_MS);
    // The first creates a counter, the second changes one.
    await inTime(counter.increment(PROBE), COUNT_TIMEOUT_MS);
    await inTime(counter.increment(PROBE), COUNT_TIMEOUT_MS);
    await inTime(counter.decrement(PROBE), COUNT_TIMEOUT_MS);
  }

  /** undefined when this process counts alone. */
  async #ask<T>(count: (counter: SharedCounter) => Promise<T>): Promise<T | undefined> {
    const counter = this.#counter;
    if (counter === undefined || !this.isShared()) return undefined;
    try {
      return await inTime(count(counter), COUNT_TIMEOUT_MS);
    } catch (error) {
      this.#lose(counter, error as Error);
      return undefined;
    }
  }

  /** A connection that is not the current one was lost already. */
  #lose(counter: SharedCounter | undefined, error: NodeJS.ErrnoException): void {
    if (counter !== this.#counter || this.#state === 'closed') return;
    this.#counter = undefined;
    counter?.close();
    if (this.#state !== 'alone') {
      const reason = error.message || error.code;
      this.#log.warn({ reason }, 'limits are counted in this process alone, without Redis');
    }
    this.#state = 'alone';
    this.#retry = setTimeout(() => void this.connect(), RETRY_MS).unref();
  }
}

/** Counts at once: the library's promise gives the client itself, which later hits change before it is read. */
function incrementIn(store: SteadyStore, key: string): ClientRateLimitInfo {
  void store.increment(key);
  const { totalHits, resetTime } = store.current.get(key) as ClientRateLimitInfo;
  return { totalHits, resetTime };
}

/** Settles as the answer does; rejects when the answer is late. */
function inTime<T>(answer: Promise<T>, timeLimitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    let leftMs = timeLimitMs;
    const timer = setInterval(() => {
      leftMs -= TICK_MS;
      if (leftMs <= 0) reject(new Error('no answer in time'));
    }, TICK_MS);
    answer.then(resolve, reject).finally(() => clearInterval(timer));
  });
}
