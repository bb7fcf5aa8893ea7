import { hash } from 'node:crypto';
import type { ClientRateLimitInfo } from 'express-rate-limit';
import type { Logger } from 'pino';
import { createClient } from 'redis';
import { type RedisConfig, type RedisSecrets, readRedisSecrets } from '../../config/redis.ts';
import { Counters, type LimitedClient, type SharedCounter } from './counters.ts';

/** A window begins with the first hit and ends by itself. Returns the hits and in how many milliseconds it ends. */
const INCREMENT = `
local endsInMs = redis.call('PTTL', KEYS[1])
if endsInMs <= 0 then
  redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
  return {1, tonumber(ARGV[1])}
end
return {redis.call('INCR', KEYS[1]), endsInMs}`;

/** `DECR` alone would make a counter that never ends from one that has ended meanwhile. */
const DECREMENT = `
if redis.call('PTTL', KEYS[1]) > 0 and tonumber(redis.call('GET', KEYS[1])) > 0 then
  return redis.call('DECR', KEYS[1])
end
return 0`;

/** Counts in Redis or Valkey; starts without it, too. Throws a ConfigError when a file of the configuration is missing. */
export async function countInRedis(config: RedisConfig, log: Logger): Promise<Counters> {
  readRedisSecrets(config);
  const counters = new Counters(log, (onLost) => createRedisCounter(config, onLost));
  await counters.connect();
  return counters;
}

/** The secrets are read again for each connection, so a new password needs no restart. */
function createRedisCounter(config: RedisConfig, onLost: (error: Error) => void): SharedCounter {
  const secrets = readRedisSecrets(config);
  const redis = createRedisClient(config, secrets);
  redis.on('error', (error) => onLost(withoutPassword(error, secrets)));
  // A process that has nothing else to do ends.
  redis.unref();
  const run = <T>(script: string, { limit, key, windowMs }: LimitedClient) =>
    redis.sendCommand<T>(['EVAL', script, '1', toRedisKey(limit, key), `${windowMs}`]);
  return {
    open: () =>
      redis.connect().catch((error) => {
        throw withoutPassword(error, secrets);
      }),
    increment: async (client) => toInfo(await run(INCREMENT, client)),
    decrement: (client) => run(DECREMENT, client),
    close: () => redis.destroy(),
  };
}

/** Version 2 of the protocol needs the fewest commands, so a user of the access control list needs few rights. */
function createRedisClient(
  { host, port, isTls, database, username }: RedisConfig,
  { password, ca }: RedisSecrets,
) {
  return createClient({
    socket: {
      host,
      port,
      reconnectStrategy: false,
      ...(isTls ? { tls: true, ...(ca === undefined ? {} : { ca }) } : {}),
    },
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    database,
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
  });
}

/** Redis repeats the arguments of a command that it does not know, which can be the password. */
function withoutPassword(error: NodeJS.ErrnoException, { password }: RedisSecrets): Error {
  const message = error.message || `${error.code}`;
  return new Error(password ? message.replaceAll(password, '…') : message);
}

/**
 * Addresses and e-mail addresses identify people, so they are hashed: none is read in Redis's memory, dumps or
 * monitor. The hash of an IPv4 address can be found by trying all, so it is no secret; it is gone with the window.
 */
function toRedisKey(limit: string, key: string): string {
  return `plumbline:${limit}:${hash('sha256', key, 'base64url').slice(0, 22)}`;
}

/** Checks the reply: one that is no number would be below each limit. */
function toInfo(reply: unknown): ClientRateLimitInfo {
  const [totalHits, endsInMs] = Array.isArray(reply) ? reply : [];
  if (!Number.isInteger(totalHits) || totalHits < 1 || !Number.isInteger(endsInMs))
    throw new Error('the reply is no count');
  return { totalHits, resetTime: new Date(Date.now() + endsInMs) };
}
