import { MemoryStore } from 'express-rate-limit';

/** Counts in windows that last as long as they should when somebody sets the clock: those of the library end by the clock. */
export class SteadyStore extends MemoryStore {
  #offsetMs = Date.now() - performance.now();

  override increment(key: string) {
    const movedMs = Date.now() - performance.now() - this.#offsetMs;
    if (Math.abs(movedMs) >= 1_000) {
      this.#offsetMs += movedMs;
      for (const { resetTime } of [...this.previous.values(), ...this.current.values()])
        resetTime.setTime(resetTime.getTime() + movedMs);
    }
    return super.increment(key);
  }
}
