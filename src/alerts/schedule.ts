import { setImmediate } from 'node:timers/promises';
import { findDomainIds, listWatchedDomainIds } from '../store/domains.ts';
import { evaluate, type Given } from './evaluate.ts';

const HOUR_MS = 3_600_000;
/** How long after a report its domain is evaluated; the reports that come meanwhile share it. */
const DEBOUNCE_MS = 2_000;

interface Scheduled extends Given {
  readonly logError: (error: unknown) => void;
  readonly everyMs?: number;
  readonly debounceMs?: number;
}

export interface AlertSchedule {
  /** Says that reports were stored for domains of these names. */
  readonly touch: (names: Iterable<string>) => void;
  /** Starts nothing more, and waits for what is under way. */
  readonly stop: () => Promise<void>;
}

/**
 * Evaluates every domain at start and then each hour, because missing reports trigger no ingest, and a domain
 * soon after reports for it were stored. There is one evaluation at a time, and it does not keep the process
 * from ending. A domain that cannot be evaluated is logged, and the next one is evaluated.
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
      // Requests come first: thousands of domains must not keep them waiting.
      await setImmediate();
    }
  };

  const evaluateAll = () => run(() => listWatchedDomainIds(store.db));
  const hourly = setInterval(evaluateAll, everyMs).unref();
  // An hour may have gone by, or many, while nobody looked.
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
