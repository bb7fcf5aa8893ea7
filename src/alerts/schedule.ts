import { setImmediate } from 'node:timers/promises';
import { findDomainIds, listWatchedDomainIds } from '../store/accounts/domains.ts';
import { evaluate, type Given } from './evaluate.ts';

const HOUR_MS = 3_600_000;
/** How long after a report its domain is evaluated. One evaluation covers all reports in that time. */
const DEBOUNCE_MS = 2_000;

interface Scheduled extends Given {
  readonly logError: (error: unknown) => void;
  readonly everyMs?: number;
  readonly debounceMs?: number;
}

export interface AlertSchedule {
  /** Reports were stored for the domains with these names. */
  readonly touch: (names: Iterable<string>) => void;
  /** Starts no further evaluation, and waits for the current one. */
  readonly stop: () => Promise<void>;
}

/**
 * Evaluates every domain at start and each hour, because missing reports trigger no ingest, and a domain soon
 * after reports for it were stored. There is one evaluation at a time. The timers do not keep the process
 * running. An error with one domain is logged, and the next domain is evaluated.
 */
export function scheduleAlerts(given: Scheduled): AlertSchedule {
  const { store, logError, everyMs = HOUR_MS, debounceMs = DEBOUNCE_MS } = given;
  const touched = new Set<string>();
  let running = Promise.resolve();
  let isStopped = false;

  const run = (listIds: () => Promise<readonly string[]>) => {
    running = running.then(() => evaluateEach(listIds)).catch(logError);
  };
  const evaluateEach = async (listIds: () => Promise<readonly string[]>) => {
    for (const id of isStopped ? [] : await listIds()) {
      if (isStopped) return;
      await evaluate(given, [id]);
      // Requests have priority: thousands of domains must not delay them.
      await setImmediate();
    }
  };

  const evaluateAll = () => run(() => listWatchedDomainIds(store.db));
  const hourly = setInterval(evaluateAll, everyMs).unref();
  // The process may not have run for an hour or longer.
  evaluateAll();
  let soon: NodeJS.Timeout | undefined;
  const evaluateTouched = () => {
    soon = undefined;
    const names = [...touched];
    touched.clear();
    run(() => findDomainIds(store.db, names));
  };
  return {
    touch: (names) => {
      for (const name of names) touched.add(name);
      if (touched.size > 0) soon ??= setTimeout(evaluateTouched, debounceMs).unref();
    },
    stop: async () => {
      isStopped = true;
      clearInterval(hourly);
      clearTimeout(soon);
      await running;
    },
  };
}
