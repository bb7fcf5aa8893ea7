import { setTimeout } from 'node:timers/promises';
import { RECORD_TYPES } from '../domain/dns/dns-record.ts';
import { addCheck } from '../domain/dns/dns-watch.ts';
import { toInstant } from '../domain/instant.ts';
import {
  type DomainToCheck,
  listDomainsToCheck,
  updateDnsRecord,
} from '../store/alerts/dns-records.ts';
import type { LookUp } from './dns-lookup.ts';
import { evaluate, type Given } from './evaluate.ts';

const HOUR_MS = 3_600_000;

interface Watching extends Given {
  readonly lookUp: LookUp;
}

/**
 * Checks a domain's records once, and evaluates its alerts when there was an answer.
 *
 * @internal Tests and the benchmark call it too.
 */
export async function checkDomain(given: Watching, { id, name }: DomainToCheck): Promise<void> {
  const { store, thresholds, now, lookUp } = given;
  const answers = await Promise.all(
    RECORD_TYPES.map(async (type) => ({ type, value: await lookUp(type, name) })),
  );
  const at = toInstant(now());
  const errors: unknown[] = [];
  for (const { type, value } of answers) {
    if (value === undefined) continue;
    // One record whose state cannot be read must not keep the other from being checked.
    await updateDnsRecord(store.db, {
      domainId: id,
      type,
      at,
      update: (known) => addCheck(known, { type, value, at }, thresholds),
    }).catch((error) => errors.push(error));
  }
  if (answers.some(({ value }) => value !== undefined)) await evaluate(given, [id]);
  if (errors.length > 0) throw errors[0];
}

interface Scheduled extends Watching {
  readonly logError: (error: unknown) => void;
  readonly everyMs?: number;
}

/**
 * Checks every active domain once an hour, evenly distributed over the hour, so that resolvers are not
 * flooded. A slow answer delays no other check. The number of checks in progress is bounded by their rate and
 * their time limit.
 */
export function watchDns(given: Scheduled): { readonly stop: () => Promise<void> } {
  const { store, logError, everyMs = HOUR_MS } = given;
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();
  const wait = (ms: number) =>
    setTimeout(Math.max(0, ms), undefined, { ref: false, signal: stopping.signal });

  const start = (domain: DomainToCheck) => {
    const check = checkDomain(given, domain).catch(logError);
    underWay.add(check);
    void check.finally(() => underWay.delete(check));
  };
  const checkAll = async () => {
    const until = Date.now() + everyMs;
    const domains = await listDomainsToCheck(store.db);
    for (const [i, domain] of domains.entries()) {
      await wait(until - everyMs * (1 - i / domains.length) - Date.now());
      start(domain);
    }
    await wait(until - Date.now());
  };
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      await checkAll().catch(async (error) => {
        if (stopping.signal.aborted) return;
        logError(error);
        await wait(everyMs).catch(() => undefined);
      });
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await watching;
      await Promise.all(underWay);
    },
  };
}
