import type { Logger } from 'pino';

/** Says in the log that counts are no longer shared, and that they are again: each once, not for each request. */
export class Announcement {
  readonly #log: Logger;
  readonly #by: string;
  #isLost = false;

  /** `by` is who holds the shared counts. */
  constructor(log: Logger, by: string) {
    this.#log = log;
    this.#by = by;
  }

  lost(reason: string): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#log.warn({ reason }, `limits are counted in this process alone, without ${this.#by}`);
  }

  back(): void {
    if (!this.#isLost) return;
    this.#isLost = false;
    this.#log.info(`limits are counted by ${this.#by} again`);
  }
}
