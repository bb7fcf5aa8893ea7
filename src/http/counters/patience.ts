import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestListener } from 'node:http';

/**
 * Time is counted in ticks of the event loop and not by a clock: an answer that is there and was not read yet,
 * because this process was busy, is not late.
 */
const TICK_MS = 10;

interface Budget {
  ticks: number;
}

interface Waiting {
  readonly budget: Budget;
  readonly giveUp: () => void;
}

/** How long answers from outside are waited for. All that one request waits for comes from one budget. */
export class Patience {
  readonly #ticks: number;
  readonly #budgets = new AsyncLocalStorage<Budget>();
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | undefined;

  /** With a tick for each 10 ms of a request. */
  constructor(ticks: number) {
    this.#ticks = ticks;
  }

  /** Gives each request a budget. */
  bound(listener: RequestListener): RequestListener {
    return (req, res) => this.#budgets.run(this.newBudget(), listener, req, res);
  }

  /** For what no request waits for. Timers and events know the request in which they were started. */
  newBudget(): Budget {
    return { ticks: this.#ticks };
  }

  /** The answer; rejects when the budget, by default the request's, is used up before. */
  wait<T>(answer: Promise<T>, budget = this.#budgets.getStore() ?? this.newBudget()): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting = { budget, giveUp: () => reject(new Error('no answer in time')) };
      this.#waiting.add(waiting);
      this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
      const end = () => this.#waiting.delete(waiting);
      void answer.then(resolve, reject).then(end);
    });
  }

  #tick(): void {
    for (const waiting of this.#waiting) {
      waiting.budget.ticks -= 1;
      if (waiting.budget.ticks > 0) continue;
      this.#waiting.delete(waiting);
      waiting.giveUp();
    }
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
