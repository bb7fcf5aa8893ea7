import { setTimeout as sleep } from 'node:timers/promises';
import type { Deliver, DoorName, MailResult } from '../../../store/inbox/incoming.ts';

export interface WatchOptions {
  /** The path of a folder, a Maildir or a mailbox file. */
  readonly path: string;
  readonly done: 'move' | 'leave';
  readonly now: () => Date;
  readonly deliver: Deliver;
  readonly findResults: (keys: readonly string[]) => Promise<ReadonlyMap<string, MailResult>>;
  /** Notes that the door works, or what keeps it from working. */
  readonly noteDoor: (door: DoorName, error?: string) => Promise<void>;
  readonly warn: (fields: { readonly path: string }, message: string) => void;
  /** The pause after a pass. Without it, the pause depends on how long a pass takes. */
  readonly pollMs?: number;
}

export interface Watch extends WatchOptions {
  readonly door: DoorName;
  readonly signal: AbortSignal;
  /** Logs the error of a file that is left where it is, once for each file. */
  readonly warnOnce: (path: string, error: unknown) => void;
}

/** Files or messages of a door that are in the inbox and not read. More than that wait where they are. */
const MAX_IN_INBOX = 500;
const ASK_AGAIN_MS = 200;

/** What a door has in the inbox, by keys. Bounded, because a folder or mailbox can have a hundred thousand mails. */
export class Backlog<T> {
  readonly #watch: Watch;
  readonly #waiting = new Map<string, T>();

  constructor(watch: Watch) {
    this.#watch = watch;
  }

  add(key: string, item: T): void {
    this.#waiting.set(key, item);
  }

  /** Waits until there is room for more. Gives each mail that is read meanwhile to `onResult`. */
  async waitForRoom(
    onResult: (item: T, result: MailResult) => Promise<void> = async () => {},
  ): Promise<void> {
    const { signal, findResults } = this.#watch;
    while (this.#waiting.size >= MAX_IN_INBOX && !signal.aborted) {
      const results = await findResults([...this.#waiting.keys()]);
      for (const [key, item] of this.#waiting) {
        const result = results.get(key);
        if (result === 'waiting') continue;
        this.#waiting.delete(key);
        if (result !== undefined) await onResult(item, result);
      }
      if (this.#waiting.size < MAX_IN_INBOX) return;
      await sleep(ASK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
