import { setImmediate } from 'node:timers/promises';
import { listWatchedDomainIds } from '../store/accounts/domains.ts';
import { evaluate, type Given } from './evaluate.ts';

const HOUR_MS = 3_600_000;

interface Scheduled extends Given {
  readonly logError: (error: unknown) => void;
  readonly everyMs?: number;
}

export interface AlertSchedule {
  /** Starts no further evaluation, and waits for the current one. */
  readonly stop: () => Promise<void>;
}

/**
 * Evaluates every domain at start and each hour, because missing reports trigger no ingest. There is one
 * evaluation at a time. The timer does not keep the process running. An error with one domain is logged, and
 * the next domain is evaluated.
 */
export function scheduleAlerts(given: Scheduled): AlertSchedule {
  const { store, logError, everyMs = HOUR_MS } = given;
  let running = Promise.resolve();
  let isStopped = false;

  const evaluateEach = async () => {
    for (const id of isStopped ? [] : await listWatchedDomainIds(store.db)) {
      if (isStopped) return;
      await evaluate(given, [id]);
      // Requests have priority: thousands of domains must not delay them.
      await setImmediate();
    }
  };
  const evaluateAll = () => {
    running = running.then(evaluateEach).catch(logError);
  };

  const hourly = setInterval(evaluateAll, everyMs).unref();
  // The process may not have run for an hour or longer.
  evaluateAll();
  return {
    stop: async () => {
      isStopped = true;
      clearInterval(hourly);
      await running;
    },
  };
}
