import type { ClientRateLimitInfo } from 'express-rate-limit';

interface Window {
  hits: number;
  /** By the monotonic clock: setting the machine's clock neither shortens nor extends a window. */
  endsAt: number;
}

/** One client: what the shared counter said last, and what this process counted alone. */
interface Client {
  readonly shared: Window;
  readonly own: Window;
}

/**
 * The counts of one limit in the memory of this process. Windows are fixed. What was counted alone is added to
 * what the shared counter says until its window ends, so a shared counter that comes and goes does not multiply
 * a limit. Clients are kept in two generations, as express-rate-limit's own store keeps them: one that made no
 * request for a whole window is forgotten.
 */
export class Counts {
  readonly #windowMs: number;
  readonly #now: () => number;
  #current = new Map<string, Client>();
  #previous = new Map<string, Client>();
  #turnsAt: number;

  constructor(windowMs: number, now = () => performance.now()) {
    this.#windowMs = windowMs;
    this.#now = now;
    this.#turnsAt = now() + windowMs;
  }

  /** Counts a hit in this process alone. */
  add(key: string): ClientRateLimitInfo {
    const now = this.#now();
    const client = this.#find(key, now);
    const { shared, own } = client;
    // The shared window goes on; a client that has none begins one.
    if (own.endsAt <= now) {
      own.hits = 0;
      own.endsAt = shared.endsAt > now ? shared.endsAt : now + this.#windowMs;
    }
    own.hits += 1;
    return toInfo(client, now);
  }

  /** Notes what the shared counter said after it counted a hit. */
  addShared(key: string, { totalHits, resetTime }: ClientRateLimitInfo): ClientRateLimitInfo {
    const now = this.#now();
    const client = this.#find(key, now);
    client.shared.hits = totalHits;
    client.shared.endsAt =
      now + (resetTime === undefined ? this.#windowMs : resetTime.getTime() - Date.now());
    return toInfo(client, now);
  }

  /** Subtracts a hit that was counted alone. Returns false when there is none. */
  subtract(key: string): boolean {
    const now = this.#now();
    return takeOne(this.#find(key, now).own, now);
  }

  /** Subtracts a hit from what the shared counter said, which cannot be told about it now. */
  subtractShared(key: string): void {
    const now = this.#now();
    takeOne(this.#find(key, now).shared, now);
  }

  /** How many clients are kept. @internal */
  get size(): number {
    return this.#current.size + this.#previous.size;
  }

  #find(key: string, now: number): Client {
    this.#forget(now);
    const known = this.#current.get(key);
    if (known !== undefined) return known;
    const none = { hits: 0, endsAt: 0 };
    const client = this.#previous.get(key) ?? { shared: { ...none }, own: { ...none } };
    this.#previous.delete(key);
    this.#current.set(key, client);
    return client;
  }

  #forget(now: number): void {
    if (now < this.#turnsAt) return;
    this.#previous = now < this.#turnsAt + this.#windowMs ? this.#current : new Map();
    this.#current = new Map();
    this.#turnsAt = now + this.#windowMs;
  }
}

function takeOne(window: Window, now: number): boolean {
  if (window.endsAt <= now || window.hits === 0) return false;
  window.hits -= 1;
  return true;
}

function toInfo({ shared, own }: Client, now: number): ClientRateLimitInfo {
  const open = [shared, own].filter(({ endsAt, hits }) => endsAt > now && hits > 0);
  const endsAt = Math.max(...open.map((window) => window.endsAt));
  return {
    totalHits: open.reduce((sum, { hits }) => sum + hits, 0),
    resetTime: new Date(Date.now() + (endsAt - now)),
  };
}
