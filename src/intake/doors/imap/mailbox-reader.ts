import type { FetchMessageObject, ImapFlow } from 'imapflow';
import { toInstant } from '../../../domain/instant.ts';
import { toSizeText } from '../../../domain/size.ts';
import type { Incoming } from '../../../store/inbox/incoming.ts';
import { type Checkpoint, parseCheckpoint, toCheckpointText } from './checkpoint.ts';
import { DoorFault, MailFault, StoreFault } from './fault.ts';
import type { File } from './filing.ts';
import { IMAP_DOOR } from './imap-door.ts';
import { findHighestUid, type ListedMail, listMails, listWindows, requireOpen } from './listing.ts';
import { type ImapOptions, toMailboxName } from './options.ts';
import { toBounded } from './responses.ts';
import type { SessionGiven } from './session.ts';

interface ReaderGiven extends SessionGiven {
  readonly file: File;
}

/** Reads one mailbox by ascending UIDs, and files the mails whose outcome is known. */
export class MailboxReader {
  readonly #client: ImapFlow;
  readonly #options: ImapOptions;
  readonly #given: ReaderGiven;
  readonly #mailbox: string;
  #checkpoint: Checkpoint;
  /** UIDs of mails in the inbox whose outcome is not known. */
  readonly #pending = new Set<number>();
  /** Up to which UID the pending mails are known, while those of an earlier connection are looked for. */
  #pendingTo = Number.POSITIVE_INFINITY;

  private constructor(client: ImapFlow, options: ImapOptions, given: ReaderGiven, at: Checkpoint) {
    this.#client = client;
    this.#options = options;
    this.#given = given;
    this.#mailbox = toMailboxName(options);
    this.#checkpoint = at;
  }

  /** Goes on where the last connection, or another process, ended. */
  static async open(client: ImapFlow, options: ImapOptions, given: ReaderGiven) {
    const { mailbox } = client;
    if (!mailbox) throw new DoorFault('No mailbox is open.');
    const uidValidity = String(mailbox.uidValidity);
    const text = await given.findCheckpoint(IMAP_DOOR);
    const names = { mailbox: toMailboxName(options), uidValidity };
    const reader = new MailboxReader(client, options, given, parseCheckpoint(text, names));
    await reader.#findPending();
    return reader;
  }

  /** The mails that were read and not filed when the last connection ended. */
  async #findPending(): Promise<void> {
    const { filed, read } = this.#checkpoint;
    for await (const { mails, to } of this.#listWindows({ from: filed + 1, to: read })) {
      this.#pendingTo = to;
      for (const { uid } of mails) this.#pending.add(uid);
      await this.fileDone();
    }
    this.#pendingTo = Number.POSITIVE_INFINITY;
  }

  /** Reads the mails that are new, as far as there is room for them in the inbox. */
  async readNew(): Promise<void> {
    const to = await findHighestUid(this.#client);
    const from = this.#checkpoint.read + 1;
    for await (const window of this.#listWindows({ from, to })) {
      for (const batch of this.#given.fetches.toBatches(window.mails)) {
        if (this.#given.signal.aborted || this.isFull) return;
        await this.#readBatch(batch);
      }
      await this.#save({ read: window.to });
    }
  }

  /** Whether as many mails are in the inbox as may wait there. */
  get isFull(): boolean {
    return this.#pending.size >= this.#given.limits.maxPending;
  }

  #listWindows(range: { from: number; to: number }) {
    return listWindows(this.#client, range, this.#given.limits);
  }

  async #readBatch(batch: readonly ListedMail[]): Promise<void> {
    const { fetches, signal } = this.#given;
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

  /** Whether a mail stays where it is, and why, for the log. */
  #isLeft(mail: ListedMail): boolean {
    const { limits, fetches, log } = this.#given;
    const isTooLarge = mail.size > limits.maxMailBytes;
    if (!isTooLarge && !fetches.isHopeless(mail)) return false;
    const why = isTooLarge
      ? `it is larger than ${toSizeText(limits.maxMailBytes)}`
      : 'the server does not give it';
    const text = `Mail ${mail.uid} of ${this.#options.mailbox} stays there unread: ${why}.`;
    log.warn({ door: IMAP_DOOR, uid: mail.uid, bytes: mail.size }, text);
    return true;
  }

  /** Adds to `settled` what is stored. */
  async #fetch(batch: readonly ListedMail[], settled: Set<number>): Promise<void> {
    await this.#fetchOnce(batch, settled);
    const omitted = batch.filter(({ uid }) => !settled.has(uid));
    if (omitted.length === 0 || this.#given.signal.aborted) return;
    // A mail that was deleted since it was listed is not listed any more.
    const [from, to] = [omitted[0]?.uid ?? 0, omitted.at(-1)?.uid ?? 0];
    const listed = await listMails(this.#client, { from, to });
    const still = omitted.filter(({ uid }) => listed.some((mail) => mail.uid === uid));
    await this.#fetchOnce(still, settled);
    const [lost] = still.filter(({ uid }) => !settled.has(uid));
    if (lost !== undefined) throw new MailFault(`The server does not give mail ${lost.uid}.`);
  }

  async #fetchOnce(batch: readonly ListedMail[], settled: Set<number>): Promise<void> {
    const wanted = new Set(batch.map(({ uid }) => uid).filter((uid) => !settled.has(uid)));
    if (wanted.size === 0) return;
    // PEEK, which imapflow uses always: a mail that is read here stays unseen.
    const source = { start: 0, maxLength: this.#given.limits.maxMailBytes };
    const query = { uid: true, source };
    const responses = this.#client.fetch([...wanted].join(','), query, { uid: true });
    for await (const mail of toBounded(responses, wanted.size)) {
      if (!wanted.has(mail.uid) || settled.has(mail.uid)) continue;
      await this.#deliver(mail);
      settled.add(mail.uid);
    }
    requireOpen(this.#client);
  }

  async #deliver({ uid, source }: FetchMessageObject): Promise<void> {
    // Servers leave the text out when they cannot read the mail themselves.
    if (source === undefined) throw new MailFault(`The server does not give mail ${uid}.`);
    const { deliver, now } = this.#given;
    const incoming: Incoming = {
      door: IMAP_DOOR,
      bytes: source,
      envelope: { place: `${this.#options.mailbox}/${uid}` },
      receivedAt: toInstant(now()),
      key: this.#toKey(uid),
    };
    await deliver(incoming).catch((error: unknown) => {
      throw new StoreFault(error);
    });
    this.#pending.add(uid);
  }

  #toKey(uid: number): string {
    return `imap:${this.#mailbox}:${this.#checkpoint.uidValidity}:${uid}`;
  }

  /** Whether the outcome of a pending mail is known. */
  async hasResults(): Promise<boolean> {
    const { done } = await this.#findResults();
    return done.length > 0;
  }

  /** Files the mails whose outcome is known. */
  async fileDone(): Promise<void> {
    const { done, processed, rejected } = await this.#findResults();
    if (done.length === 0) return;
    if (processed.length > 0) await this.#given.file('processed', processed);
    if (rejected.length > 0) await this.#given.file('rejected', rejected);
    for (const uid of done) this.#pending.delete(uid);
    await this.#save({});
  }

  /** One that is stuck stays where it is, as one does that is not in the inbox any more. */
  async #findResults() {
    const uids = [...this.#pending];
    const keys = uids.map((uid) => this.#toKey(uid));
    const results = keys.length === 0 ? new Map() : await this.#given.findResults(keys);
    const isOne = (outcome: string) => (uid: number) => results.get(this.#toKey(uid)) === outcome;
    const isWaiting = isOne('waiting');
    return {
      done: uids.filter((uid) => !isWaiting(uid)),
      processed: uids.filter(isOne('processed')),
      rejected: uids.filter(isOne('rejected')),
    };
  }

  async #save({ read = this.#checkpoint.read }: { read?: number | undefined }): Promise<void> {
    // They are not in order when a server gives mails in another one than was asked for.
    const oldest = Math.min(...this.#pending);
    const filed = this.#pending.size === 0 ? Math.min(read, this.#pendingTo) : oldest - 1;
    if (read === this.#checkpoint.read && filed === this.#checkpoint.filed) return;
    this.#checkpoint = { ...this.#checkpoint, read, filed };
    this.#given.onProgress();
    const text = toCheckpointText(this.#mailbox, this.#checkpoint);
    await this.#given.updateCheckpoint(IMAP_DOOR, text);
  }
}
