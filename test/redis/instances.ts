import { expect, onTestFinished, vi } from 'vitest';
import type { RedisConfig } from '../../src/config/redis.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { type Answer, type Api, startApi } from '../support/api.ts';
import { PATIENCE_MS } from '../support/every-suite.ts';
import { openTestStore } from '../support/store.ts';

export const PATH = '/v1/external/domains';

type Wanted = Parameters<typeof startApi>[0];

/** Instances that serve one store and count in one Redis, until the test ends. */
export async function instances(count: number, redis: RedisConfig, wanted: Wanted = {}) {
  const store = await openTestStore();
  const shared: Store = { ...store, close: async () => {} };
  const apis: Api[] = [];
  for (let i = 0; i < count; i++) apis.push(await startApi({ ...wanted, store: shared, redis }));
  onTestFinished(async () => {
    await Promise.all(apis.map(({ close }) => close()));
    await store.close();
  });
  return apis as [Api, Api];
}

/** Instances of which each has reached Redis: one that starts does not wait for it. */
export async function sharing(...given: Parameters<typeof instances>) {
  const apis = await instances(...given);
  for (const api of apis) await untilLimits(api, 'shared');
  return apis;
}

/** `shared` or `own`, as `/readyz` says it; a Redis that cannot be used does not make an instance unready. */
export async function limitsOf(api: Api): Promise<string> {
  const { status, body } = await api.send('/readyz');
  expect([status, body.status]).toEqual([200, 'ready']);
  return body.limits;
}

export async function untilLimits(api: Api, limits: 'shared' | 'own'): Promise<void> {
  const options = { timeout: PATIENCE_MS, interval: 50 };
  await vi.waitFor(async () => expect(await limitsOf(api)).toBe(limits), options);
}

/** Waits until an instance has said that it counts alone. */
export async function untilLost(api: Api): Promise<void> {
  const options = { timeout: PATIENCE_MS, interval: 50 };
  await vi.waitFor(() => expect(linesOf(api)).toContain(LOST), options);
  expect(await limitsOf(api)).toBe('own');
}

/** The lines of the log that are not about a request, with what they are about. */
export function linesOf({ logged }: Api): string[] {
  return logged
    .filter(({ msg }) => msg !== undefined)
    .map(({ level, msg }) => `${level === 40 ? 'warn' : level}: ${msg}`);
}

export const LOST = 'warn: limits are counted in this process alone, without Redis';
export const BACK = '30: limits are counted by Redis again';

export const statusesOf = (answers: readonly Answer[]) =>
  Object.fromEntries(
    [...Map.groupBy(answers, ({ status }) => status)].map(([status, all]) => [status, all.length]),
  );

/** What is left of a policy, and for how many seconds. */
export function leftOf({ headers }: Answer, policy: 'key' | 'ip') {
  const [, left, seconds] =
    new RegExp(`"${policy}";r=(\\d+);t=(\\d+)`).exec(headers['ratelimit'] ?? '') ?? [];
  return { left: Number(left), seconds: Number(seconds) };
}
