import type { ClientRateLimitInfo } from 'express-rate-limit';
import type { Logger } from 'pino';
import type { RedisConfig } from '../../config/redis.ts';
import { Announcement } from './announcement.ts';
import type { ClientOfLimit, SharedCounts } from './fallback-store.ts';
import type { Patience } from './patience.ts';
import { RedisConnection } from './redis-connection.ts';
import { readSecrets } from './redis-secrets.ts';

/** Nobody waits for an attempt, so it may take longer than a request. */
const CONNECT_TIMEOUT_MS = 2_000;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5_000;
/** A connection that lasted for less time is followed by a longer pause, so that the log stays short. */
const STABLE_MS = 10_000;
const PROBE: ClientOfLimit = { limit: 'probe', key: '', windowMs: 60_000 };

/**
 * The counts in Redis. One failed or late count closes the connection: from then on no request waits, until an
 * attempt in the background has counted as a request does.
 */
export class RedisLink implements SharedCounts {
  readonly #config: RedisConfig;
  readonly #patience: Patience;
  readonly #announcement: Announcement;
  /** The connection that counts; undefined while this process counts alone. */
  #connection: RedisConnection | undefined;
  #attempt: RedisConnection | undefined;
  #connectedAt = 0;
  #retryMs = FIRST_RETRY_MS;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #password: string | undefined;

  constructor(config: RedisConfig, { log, patience }: { log: Logger; patience: Patience }) {
    this.#config = config;
    this.#patience = patience;
    this.#announcement = new Announcement(log, 'Redis');
  }

  isShared(): boolean {
    return this.#connection !== undefined;
  }

  add(client: ClientOfLimit): Promise<ClientRateLimitInfo> {
    return this.#ask((connection) => this.#patience.wait(connection.add(client)));
  }

  /** Comes after the answer of its request, so it does not need the request's budget. */
  subtract(client: ClientOfLimit): Promise<unknown> {
    return this.#ask((connection) =>
      this.#patience.wait(connection.subtract(client), this.#patience.newBudget()),
    );
  }

  /** Makes one attempt; when it fails, more follow in the background. Never rejects. */
  async connect(): Promise<void> {
    try {
      await this.#tryToConnect();
    } catch (error) {
      this.#attempt?.destroy();
      this.#attempt = undefined;
      this.#retryLater(error);
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#attempt?.destroy();
    this.#connection?.destroy();
    this.#connection = undefined;
  }

  async #tryToConnect(): Promise<void> {
    const secrets = readSecrets(this.#config);
    this.#password = secrets.password;
    if (this.#isClosed) return;
    const attempt = new RedisConnection(this.#config, secrets, (error) =>
      this.#lose(attempt, error),
    );
    this.#attempt = attempt;
    await open(attempt);
    await this.#patience.wait(probe(attempt), this.#patience.newBudget());
    this.#attempt = undefined;
    this.#connection = attempt;
    this.#connectedAt = performance.now();
    this.#announcement.back();
  }

  async #ask<T>(count: (connection: RedisConnection) => Promise<T>): Promise<T> {
    const connection = this.#connection;
    if (connection === undefined) throw new Error('not connected');
    try {
      return await count(connection);
    } catch (error) {
      this.#lose(connection, error);
      throw error;
    }
  }

  /** A connection that is not the current one was lost already. */
  #lose(connection: RedisConnection, error: unknown): void {
    if (connection !== this.#connection) return;
    this.#connection = undefined;
    connection.destroy();
    if (performance.now() - this.#connectedAt > STABLE_MS) this.#retryMs = FIRST_RETRY_MS;
    this.#retryLater(error);
  }

  #retryLater(error: unknown): void {
    if (this.#isClosed) return;
    this.#announcement.lost(this.#describe(error));
    // Instances that lost Redis at the same time do not all come back at the same time.
    const waitMs = this.#retryMs * (0.8 + 0.4 * Math.random());
    this.#retryMs = Math.min(2 * this.#retryMs, LAST_RETRY_MS);
    this.#timer = setTimeout(() => void this.connect(), waitMs).unref();
  }

  /** Redis repeats the arguments of a command that it does not know, which can be the password. */
  #describe(error: unknown): string {
    const { message, code = 'unknown' } = error as NodeJS.ErrnoException;
    const text = message || code;
    return this.#password ? text.replaceAll(this.#password, '…') : text;
  }
}

/** Finds what a connection does not: too little memory, a replica, missing rights, slow answers. */
async function probe(attempt: RedisConnection): Promise<void> {
  // The first creates a counter, the second changes one.
  await attempt.add(PROBE);
  await attempt.add(PROBE);
  await attempt.subtract(PROBE);
}

async function open(attempt: RedisConnection): Promise<void> {
  let isLate = false;
  const deadline = setTimeout(() => {
    isLate = true;
    attempt.destroy();
  }, CONNECT_TIMEOUT_MS);
  try {
    await attempt.open();
  } catch (error) {
    throw isLate ? new Error('no answer in time') : error;
  } finally {
    clearTimeout(deadline);
  }
}
