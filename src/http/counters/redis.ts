import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { RedisConfig } from '../../config/redis.ts';
import type { Counters } from './counters.ts';
import { FallbackStore } from './fallback-store.ts';
import { Patience } from './patience.ts';
import { RedisLink } from './redis-link.ts';
import { readSecrets } from './redis-secrets.ts';

/**
 * At most 200 ms for all counts of a request: 12 ticks of 10 ms, which a timer makes 11, and for each of at most four
 * limits the part of a tick that passes before its first one.
 */
const REQUEST_TICKS = 12;
const START_MS = 200;

/**
 * Counts in Redis or Valkey. Starts without it, too. Throws a ConfigError when a file of the configuration is missing.
 */
export async function connectCounters(config: RedisConfig, log: Logger): Promise<Counters> {
  readSecrets(config);
  const patience = new Patience(REQUEST_TICKS);
  const link = new RedisLink(config, { log, patience });
  await Promise.race([link.connect(), delay(START_MS)]);
  return {
    createStore: (limit) => new FallbackStore(limit, link),
    bound: (listener) => patience.bound(listener),
    details: () => ({ limits: link.isShared() ? 'shared' : 'own' }),
    close: () => link.close(),
  };
}
