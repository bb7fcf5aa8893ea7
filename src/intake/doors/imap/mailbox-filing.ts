import type { MailboxConnection } from './connection.ts';
import { FilingFault } from './fault.ts';
import { type FiledResult, toMoveFault } from './filing.ts';
import type { ImapDeps, ImapLimits, MailboxOptions } from './options.ts';

/** When so many mails are refused one after the other, all are. */
const MAX_REFUSED = 3;
/** When so often one after the other the server says that it moved mails, and did not move all, it refuses to. */
const MAX_FALSE_MOVES = 3;

interface FilingDeps extends Pick<ImapDeps, 'log'> {
  readonly limits: Pick<ImapLimits, 'refileMs'>;
}

/** Moves or flags the mails of one mailbox, and remembers what the server refuses. It outlives connections. */
export class MailboxFiling {
  readonly #door: MailboxOptions['door'];
  /** The mailbox's name in its account, for people. */
  readonly #name: string;
  readonly #deps: FilingDeps;
  readonly #unconfirmed = new Map<number, FiledResult>();
  #falseMoves = 0;
  #againAtMs = 0;
  /** Why mails are not filed, for people. */
  fault: string | undefined;

  constructor({ door, mailbox }: Pick<MailboxOptions, 'door' | 'mailbox'>, deps: FilingDeps) {
    this.#door = door;
    this.#name = mailbox;
    this.#deps = deps;
  }

  /** Whether mails that were refused may be tried again. */
  get isDue(): boolean {
    return performance.now() >= this.#againAtMs;
  }

  /** The mails are to be filed from the beginning: they have new UIDs. */
  reset(): void {
    this.#unconfirmed.clear();
    this.#againAtMs = 0;
  }

  /** Whether the server says that it moved the mail, without naming it. */
  mayBeThere(uid: number): boolean {
    return this.#unconfirmed.has(uid);
  }

  /** Returns whether the server does it. After a refusal it is not asked until `fault` is taken back. */
  async file(connection: MailboxConnection, result: FiledResult, uids: readonly number[]) {
    if (this.fault !== undefined) return false;
    const unasked = uids.filter((uid) => !this.mayBeThere(uid));
    if (unasked.length === 0) return true;
    const fault = await this.#try(connection, result, unasked);
    if (fault !== undefined) this.#refuse(fault);
    return fault === undefined;
  }

  /** Looks for mails that were moved without being named. Returns those that are gone; the others are filed again. */
  async confirm(connection: MailboxConnection): Promise<readonly number[]> {
    const asked = new Map(this.#unconfirmed);
    if (asked.size === 0) return [];
    const present = new Set(await connection.listPresent([...asked.keys()]));
    this.#unconfirmed.clear();
    this.#falseMoves = present.size > 0 ? this.#falseMoves + 1 : 0;
    const [first] = present;
    if (first !== undefined && this.#falseMoves >= MAX_FALSE_MOVES)
      this.#refuse(toMoveFault(asked.get(first) ?? 'processed'));
    return [...asked.keys()].filter((uid) => !present.has(uid));
  }

  #refuse({ message }: FilingFault): void {
    this.fault = message;
    this.#againAtMs = performance.now() + this.#deps.limits.refileMs;
    this.#deps.log.warn({ door: this.#door }, `${this.#door}: ${message}`);
  }

  /** When only some of the mails are refused, those stay for good: they must not stop the others for ever. */
  async #try(connection: MailboxConnection, result: FiledResult, uids: readonly number[]) {
    const whole = await this.#tryOnce(connection, result, uids);
    if (whole === undefined || uids.length === 1) return whole;
    const refused = new Map<number, FilingFault>();
    for (const [i, uid] of uids.entries()) {
      const fault = await this.#tryOnce(connection, result, [uid]);
      if (fault !== undefined) refused.set(uid, fault);
      if (refused.size === MAX_REFUSED && i + 1 === MAX_REFUSED) return whole;
    }
    if (refused.size === uids.length) return whole;
    for (const [uid, { message }] of refused)
      this.#deps.log.warn({ door: this.#door, uid }, `Mail ${uid} of ${this.#name}: ${message}`);
    return undefined;
  }

  async #tryOnce(connection: MailboxConnection, result: FiledResult, uids: readonly number[]) {
    try {
      const unnamed = await connection.file(result, uids);
      for (const uid of unnamed) this.#unconfirmed.set(uid, result);
      return undefined;
    } catch (error) {
      if (error instanceof FilingFault) return error;
      throw error;
    }
  }
}
