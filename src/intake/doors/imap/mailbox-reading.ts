import type { FetchMessageObject } from 'imapflow';
import { toInstant } from '../../../domain/instant.ts';
import { toSizeText } from '../../../domain/size.ts';
import { type Checkpoint, parseCheckpoint, toCheckpointText } from './checkpoint.ts';
import type { ListedMail, MailboxConnection } from './connection.ts';
import { MailFault, StoreFault } from './fault.ts';
import type { Fetches } from './fetches.ts';
import { IMAP_DOOR, type ImapDeps, type ImapLimits, type ImapOptions } from './options.ts';

export interface MailboxReadingDeps extends ImapDeps {
  readonly limits: ImapLimits;
  readonly fetches: Fetches;
  readonly signal: AbortSignal;
  /** Called when a mail was read or filed. */
  readonly onProgress: () => void;
}

/** Reads one mailbox by ascending UIDs, and files the mails whose outcome is known. */
export class MailboxReading {
  readonly #connection: MailboxConnection;
  readonly #deps: MailboxReadingDeps;
  /** The mailbox's name in its account, for people. */
  readonly #name: string;
  /** Names the mailbox in keys and in the checkpoint: another mailbox has other mails. */
  readonly #fullName: string;
  #checkpoint: Checkpoint;
  /** UIDs of mails in the inbox whose outcome is not known. */
  readonly #pending = new Set<number>();
  /** Up to which UID the pending mails are known, while those of an earlier connection are looked for. */
  #pendingTo = Number.POSITIVE_INFINITY;

  private constructor(
    connection: MailboxConnection,
    { user, host, port, mailbox }: ImapOptions,
    deps: MailboxReadingDeps,
  ) {
    this.#connection = connection;
    this.#deps = deps;
    this.#name = mailbox;
    this.#fullName = `${user}@${host}:${port}/${mailbox}`;
    this.#checkpoint = { uidValidity: connection.uidValidity, read: 0, filed: 0 };
  }

  /** Goes on where the last connection, or another process, ended. */
  static async begin(
    connection: MailboxConnection,
    options: ImapOptions,
    deps: MailboxReadingDeps,
  ): Promise<MailboxReading> {
    const reading = new MailboxReading(connection, options, deps);
    await reading.#resume();
    return reading;
  }

  async #resume(): Promise<void> {
    const { uidValidity } = this.#checkpoint;
    const text = await this.#deps.findCheckpoint(IMAP_DOOR);
    this.#checkpoint = parseCheckpoint(text, { mailbox: this.#fullName, uidValidity });
    const { filed, read } = this.#checkpoint;
    for await (const { mails, to } of this.#connection.listWindows({ from: filed + 1, to: read })) {
      this.#pendingTo = to;
      for (const { uid } of mails) this.#pending.add(uid);
      await this.fileDone();
    }
    this.#pendingTo = Number.POSITIVE_INFINITY;
  }

  /** Reads the mails that are new, as far as there is room for them in the inbox. */
  async readNew(): Promise<void> {
    const to = await this.#connection.findHighestUid();
    const from = this.#checkpoint.read + 1;
    for await (const window of this.#connection.listWindows({ from, to })) {
      for (const batch of this.#deps.fetches.toBatches(window.mails)) {
        if (this.#deps.signal.aborted || this.isFull()) return;
        await this.#readBatch(batch);
      }
      await this.#save({ read: window.to });
    }
  }

  isFull = (): boolean => this.#pending.size >= this.#deps.limits.maxPending;

  async #readBatch(batch: readonly ListedMail[]): Promise<void> {
    const { fetches, signal } = this.#deps;
    const left = batch.filter((mail) => this.#isLeft(mail)).map(({ uid }) => uid);
    const settled = new Set(left);
    try {
      await this.#fetch(batch, settled);
    } catch (error) {
      if (!(error instanceof StoreFault || signal.aborted)) fetches.failed(batch, error);
      const reached = batch.findIndex(({ uid }) => !settled.has(uid));
      await this.#save({ read: batch[reached - 1]?.uid });
      throw error;
    }
    fetches.succeeded(batch.length);
    await this.#save({ read: batch.at(-1)?.uid });
  }

  /** Whether a mail stays where it is. Logs why. */
  #isLeft(mail: ListedMail): boolean {
    const { limits, fetches, log } = this.#deps;
    const isTooLarge = mail.size > limits.maxMailBytes;
    if (!isTooLarge && !fetches.isHopeless(mail)) return false;
    const why = isTooLarge
      ? `it is larger than ${toSizeText(limits.maxMailBytes)}`
      : 'the server does not give it';
    const text = `Mail ${mail.uid} of ${this.#name} stays there unread: ${why}.`;
    log.warn({ door: IMAP_DOOR, uid: mail.uid, bytes: mail.size }, text);
    return true;
  }

  /** Adds to `settled` what is stored. */
  async #fetch(batch: readonly ListedMail[], settled: Set<number>): Promise<void> {
    await this.#fetchOnce(batch, settled);
    const omitted = batch.filter(({ uid }) => !settled.has(uid));
    if (omitted.length === 0) return;
    // A mail that was deleted since it was listed is not listed any more.
    const [from, to] = [omitted[0]?.uid ?? 0, omitted.at(-1)?.uid ?? 0];
    const listed = await this.#connection.listMails({ from, to });
    const still = omitted.filter(({ uid }) => listed.some((mail) => mail.uid === uid));
    await this.#fetchOnce(still, settled);
    const [lost] = still.filter(({ uid }) => !settled.has(uid));
    if (lost !== undefined) throw new MailFault(`The server does not give mail ${lost.uid}.`);
  }

  async #fetchOnce(mails: readonly ListedMail[], settled: Set<number>): Promise<void> {
    const uids = new Set(mails.map(({ uid }) => uid)).difference(settled);
    for await (const mail of this.#connection.fetch(uids)) {
      if (settled.has(mail.uid)) continue;
      await this.#deliver(mail);
      settled.add(mail.uid);
    }
  }

  async #deliver({ uid, source }: FetchMessageObject): Promise<void> {
    // Servers leave the text out when they cannot read the mail themselves.
    if (source === undefined) throw new MailFault(`The server does not give mail ${uid}.`);
    const { deliver, now } = this.#deps;
    await deliver({
      door: IMAP_DOOR,
      bytes: source,
      envelope: { place: `${this.#name}/${uid}` },
      receivedAt: toInstant(now()),
      key: this.#toKey(uid),
    }).catch((error: unknown) => {
      throw new StoreFault(error);
    });
    this.#pending.add(uid);
  }

  #toKey(uid: number): string {
    return `imap:${this.#fullName}:${this.#checkpoint.uidValidity}:${uid}`;
  }

  hasResults = async (): Promise<boolean> => (await this.#findResults()).size > 0;

  /** Files the mails whose outcome is known. One that is stuck, or not in the inbox any more, stays where it is. */
  async fileDone(): Promise<void> {
    const results = await this.#findResults();
    if (results.size === 0) return;
    const done = [...results.keys()];
    for (const outcome of ['processed', 'rejected'] as const) {
      const uids = done.filter((uid) => results.get(uid) === outcome);
      if (uids.length > 0) await this.#connection.file(outcome, uids);
    }
    for (const uid of done) this.#pending.delete(uid);
    await this.#save({});
  }

  /** The outcomes of the pending mails that do not wait any more; undefined for one that is not in the inbox. */
  async #findResults() {
    if (this.#pending.size === 0) return new Map();
    const uids = [...this.#pending];
    const byKey = await this.#deps.findResults(uids.map((uid) => this.#toKey(uid)));
    const results = uids.map((uid) => [uid, byKey.get(this.#toKey(uid))] as const);
    return new Map(results.filter(([, result]) => result !== 'waiting' && result !== 'delayed'));
  }

  async #save({ read = this.#checkpoint.read }: { read?: number | undefined }): Promise<void> {
    // A server may give mails in another order than was asked for.
    const oldest = Math.min(...this.#pending);
    const filed = this.#pending.size === 0 ? Math.min(read, this.#pendingTo) : oldest - 1;
    if (read === this.#checkpoint.read && filed === this.#checkpoint.filed) return;
    this.#checkpoint = { ...this.#checkpoint, read, filed };
    this.#deps.onProgress();
    const text = toCheckpointText(this.#fullName, this.#checkpoint);
    await this.#deps.updateCheckpoint(IMAP_DOOR, text);
  }
}
