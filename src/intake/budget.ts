import { Refusal } from '../domain/refusal.ts';

/** What one source may still unpack to, all its members together. */
export class Budget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }

  spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0)
      throw new Refusal('too_large', 'The source unpacks to too much; the rest was not read.');
  }
}
