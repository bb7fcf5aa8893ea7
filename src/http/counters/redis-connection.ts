import { hash } from 'node:crypto';
import type { ClientRateLimitInfo, Options } from 'express-rate-limit';
import { RedisStore } from 'rate-limit-redis';
import { createClient } from 'redis';
import type { RedisConfig } from '../../config/redis.ts';
import type { ClientOfLimit } from './fallback-store.ts';
import type { Secrets } from './redis-secrets.ts';

const PREFIX = 'plumbline:';
/** More than one instance sends in the time for which it waits. A longer queue would wait for nothing. */
const MAX_COMMANDS = 10_000;

/** `DECR` alone would make a counter that never ends from one that has ended meanwhile. */
const SUBTRACT = `
if redis.call('PTTL', KEYS[1]) > 0 and tonumber(redis.call('GET', KEYS[1])) > 0 then
  return redis.call('DECR', KEYS[1])
end
return 0`;

/** One connection. It does not reconnect: another one takes its place. */
export class RedisConnection {
  readonly #client: ReturnType<typeof createRedisClient>;
  /** For each length of windows. Scripts are loaded again for a new connection. */
  readonly #stores = new Map<number, RedisStore>();

  constructor(config: RedisConfig, secrets: Secrets, onError: (error: Error) => void) {
    this.#client = createRedisClient(config, secrets);
    this.#client.on('error', onError);
    // A process that has nothing else to do ends.
    this.#client.unref();
  }

  /** Rejects when the connection is destroyed before. */
  async open(): Promise<void> {
    await this.#client.connect();
  }

  async add(client: ClientOfLimit): Promise<ClientRateLimitInfo> {
    const info = await this.#storeOf(client.windowMs).increment(toKey(client));
    const isCount = info.totalHits >= 1 && Number.isFinite(info.resetTime?.getTime());
    // Without this, a reply that is no number would be below each limit.
    if (!isCount) throw new Error('the reply is no count');
    return info;
  }

  subtract(client: ClientOfLimit): Promise<unknown> {
    return this.#client.sendCommand(['EVAL', SUBTRACT, '1', `${PREFIX}${toKey(client)}`]);
  }

  /** Rejects what is under way. */
  destroy(): void {
    this.#client.destroy();
  }

  #storeOf(windowMs: number): RedisStore {
    const known = this.#stores.get(windowMs);
    if (known !== undefined) return known;
    const sendCommand = (...args: string[]) => this.#client.sendCommand<string>(args);
    const store = new RedisStore({ prefix: PREFIX, sendCommand });
    // A script that could not be loaded fails each count, so nobody has to wait for this.
    store.init({ windowMs } as Options).catch(() => {});
    this.#stores.set(windowMs, store);
    return store;
  }
}

/** Version 2 of the protocol needs the fewest commands, so a user of the access control list needs few rights. */
function createRedisClient(
  { host, port, isTls, database, username }: RedisConfig,
  { password, ca }: Secrets,
) {
  return createClient({
    socket: {
      ...{ host, port, reconnectStrategy: false },
      ...(isTls ? { tls: true, ...(ca === undefined ? {} : { ca }) } : {}),
    },
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    database,
    RESP: 2,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_COMMANDS,
    disableClientInfo: true,
    maintNotifications: 'disabled',
  });
}

/**
 * Addresses and e-mail addresses identify people, so they are hashed: no address is read in Redis's memory, dumps
 * or monitor. A hash of an IPv4 address can be found by trying all of them, so it is not a secret; it is gone when
 * the window ends.
 */
function toKey({ limit, key }: ClientOfLimit): string {
  return `${limit}:${hash('sha256', key, 'base64url').slice(0, 22)}`;
}
