import type { Deliver, DoorName, MailResult } from '../../../domain/incoming.ts';
import { describeSystemError } from '../../../domain/system-error.ts';

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
  /** How often a folder of few files is listed. */
  readonly pollMs?: number;
}

export interface Watch extends WatchOptions {
  readonly door: DoorName;
  readonly signal: AbortSignal;
  readonly pollMs: number;
  readonly left: LeftFiles;
}

/**
 * Files or messages of a door that are in the inbox and were not tried yet. More than that wait where they are: a file
 * that comes alone waits for these at most.
 */
export const MAX_IN_INBOX = 400;
/** How often the inbox is asked then what it has read. */
export const ASK_MS = 200;

const MAX_LEFT = 1_000;

/** Files that cannot be read or moved, with the reason. Each is logged once. Beyond the bound they are not named. */
export class LeftFiles {
  readonly #warn: WatchOptions['warn'];
  readonly #reasons = new Map<string, string>();

  constructor(warn: WatchOptions['warn']) {
    this.#warn = warn;
  }

  add(path: string, error: unknown): void {
    if (this.#reasons.has(path) || this.#reasons.size >= MAX_LEFT) return;
    this.#reasons.set(path, toReason(error));
    this.#warn({ path }, `The file is left where it is: ${toReason(error)}.`);
  }

  delete(path: string): void {
    this.#reasons.delete(path);
  }

  /** What operators have to know; undefined when no file is left. */
  describe(): string | undefined {
    const [first] = this.#reasons;
    if (first === undefined) return undefined;
    const others = this.#reasons.size - 1;
    return `${first[0]} is left where it is: ${first[1]}${others > 0 ? `; and ${others} more` : ''}`;
  }
}

/** The end of a sentence, without a full stop. */
export function toReason(error: unknown): string {
  const isSystem = (error as NodeJS.ErrnoException).syscall !== undefined;
  if (isSystem) return describeSystemError(error);
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}
