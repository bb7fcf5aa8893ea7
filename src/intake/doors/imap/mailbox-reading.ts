import type { FetchMessageObject } from 'imapflow';
import type { MailResult } from '../../../domain/incoming.ts';
import { toInstant } from '../../../domain/instant.ts';
import { toSizeText } from '../../../domain/size.ts';
import { inGroups } from '../in-groups.ts';
import { type Checkpoint, parseCheckpoint, toCheckpointText } from './checkpoint.ts';
import type { MailboxConnection, MailboxMail } from './connection.ts';
import { DoorFault, MailFault, StoreFault, ThrottleFault } from './fault.ts';
import type { Fetches } from './fetches.ts';
import { MailboxFiling } from './mailbox-filing.ts';
import type { ImapDeps, ImapLimits, MailboxOptions } from './options.ts';

type Results = ReadonlyMap<number, MailResult | undefined>;

export interface MailboxReadingDeps extends ImapDeps {
  readonly limits: ImapLimits;
  readonly fetches: Fetches;
  readonly signal: AbortSignal;
  /** Called when a mail was read or filed. */
  readonly onProgress: () => void;
}

/**
 * Reads one mailbox by ascending UIDs, and files the mails whose outcome is known. It outlives connections: what one
 * has found out needs no commands of the next one.
 */
export class MailboxReading {
  readonly #deps: MailboxReadingDeps;
  readonly door: MailboxOptions['door'];
  /** The mailbox's name in its account, for people. */
  readonly #name: string;
  /** Names the mailbox in keys and in the checkpoint: another mailbox has other mails. */
  readonly #fullName: string;
  #connection: MailboxConnection | undefined;
  #checkpoint: Checkpoint | undefined;
  /** UIDs of mails in the inbox whose outcome is not known, with their sizes. */
  readonly #pending = new Map<number, number>();
  /** Mails from this UID on are to be listed and filed: an earlier process left them, or the server refused to file. */
  #unfiledFrom = Number.POSITIVE_INFINITY;
  readonly filing: MailboxFiling;
  /** The results of pending mails that are to be filed. */
  #results: Results = new Map();
  #askAtMs = 0;

  constructor(options: MailboxOptions, deps: MailboxReadingDeps) {
    const { door, user, host, port, mailbox } = options;
    this.#deps = deps;
    this.door = door;
    this.#name = mailbox;
    this.filing = new MailboxFiling(options, deps);
    this.#fullName = `${user}@${host}:${port}/${mailbox}`;
  }

  /** Goes on where the last connection, or another process, ended. */
  async resume(connection: MailboxConnection): Promise<void> {
    this.#connection = connection;
    const { uidValidity } = connection;
    if (this.#checkpoint?.uidValidity !== uidValidity) {
      const text = await this.#deps.findCheckpoint(this.door);
      this.#checkpoint = parseCheckpoint(text, { mailbox: this.#fullName, uidValidity });
      this.#pending.clear();
      this.#results = new Map();
      this.#unfiledFrom = this.#checkpoint.filed + 1;
      this.filing.reset();
    }
    await this.#fileDue();
  }

  /** Reads the mails that are new, as far as there is room for them in the inbox. */
  async readNew(): Promise<void> {
    await this.#open.refresh();
    for await (const { mails } of this.#open.listWindows({ from: this.#known.read + 1 }))
      for (const batch of this.#deps.fetches.toBatches(mails)) {
        if (this.#deps.signal.aborted || this.isFull()) return;
        await this.#readBatch(batch);
      }
  }

  isFull = (): boolean => {
    const { maxPending, maxPendingBytes } = this.#deps.limits;
    const bytes = this.#pending.values().reduce((sum, one) => sum + one, 0);
    return this.#pending.size >= maxPending || bytes >= maxPendingBytes;
  };

  async #readBatch(batch: readonly MailboxMail[]): Promise<void> {
    const { fetches, signal } = this.#deps;
    const settled = new Set(batch.filter((mail) => this.#isLeft(mail)).map(({ uid }) => uid));
    const hopeless = batch.filter((mail) => !settled.has(mail.uid) && fetches.isHopeless(mail));
    try {
      for (const { uid } of hopeless) settled.add(await this.#giveUp(uid));
      await this.#fetch(batch, settled);
    } catch (error) {
      const isOfMail = !(error instanceof StoreFault || error instanceof ThrottleFault);
      if (isOfMail && !signal.aborted) fetches.failed(batch, error);
      const reached = batch.findIndex(({ uid }) => !settled.has(uid));
      await this.#save({ read: batch[reached - 1]?.uid });
      throw error;
    }
    fetches.succeeded(batch.length);
    await this.#save({ read: batch.at(-1)?.uid });
  }

  /** Whether a mail stays where it is. Logs why. */
  #isLeft(mail: MailboxMail): boolean {
    const { limits, log } = this.#deps;
    if (mail.size <= limits.maxMailBytes) return false;
    const why = `it is larger than ${toSizeText(limits.maxMailBytes)}`;
    const text = `Mail ${mail.uid} of ${this.#name} stays there unread: ${why}.`;
    log.warn({ door: this.door, uid: mail.uid, bytes: mail.size }, text);
    return true;
  }

  /** Files a mail that the server does not give with those that are rejected, where a person finds it. */
  async #giveUp(uid: number): Promise<number> {
    const text = `Mail ${uid} of ${this.#name} is given up and rejected: the server does not give it.`;
    this.#deps.log.warn({ door: this.door, uid }, text);
    await this.#file(new Map([[uid, 'rejected']]));
    return uid;
  }

  /** Adds to `settled` what is stored. */
  async #fetch(batch: readonly MailboxMail[], settled: Set<number>): Promise<void> {
    await this.#fetchOnce(batch, settled);
    const omitted = batch.filter(({ uid }) => !settled.has(uid));
    if (omitted.length === 0) return;
    // A mail that was deleted since it was listed is not listed any more.
    const [from, to] = [omitted[0]?.uid ?? 0, omitted.at(-1)?.uid ?? 0];
    const listed = await this.#open.listMails({ from, to });
    const still = omitted.filter(({ uid }) => listed.some((mail) => mail.uid === uid));
    await this.#fetchOnce(still, settled);
    const [lost] = still.filter(({ uid }) => !settled.has(uid));
    if (lost !== undefined) throw new MailFault(`The server does not give mail ${lost.uid}.`);
  }

  /** What came is delivered, also when the server does not come to the end. */
  async #fetchOnce(mails: readonly MailboxMail[], settled: Set<number>): Promise<void> {
    const wanted = mails.filter(({ uid }) => !settled.has(uid));
    const came = new Map<number, FetchMessageObject>();
    try {
      await this.#open.fetchMails(wanted, (mail) => void came.set(mail.uid, mail));
    } finally {
      await inGroups([...came.values()], async (mail) => {
        await this.#deliver(mail);
        settled.add(mail.uid);
      });
    }
  }

  async #deliver({ uid, source }: FetchMessageObject): Promise<void> {
    // Servers leave the text out when they cannot read the mail themselves, or say NIL (RFC 2180, section 4.1.3), which is
    // false here in spite of the type.
    if (!source) throw new MailFault(`The server does not give mail ${uid}.`);
    const { deliver, now } = this.#deps;
    await deliver({
      door: this.door,
      bytes: source,
      envelope: { place: `${this.#name}/${uid}` },
      receivedAt: toInstant(now()),
      key: this.#toKey(uid),
    }).catch((error: unknown) => {
      throw new StoreFault(error);
    });
    this.#pending.set(uid, source.length);
  }

  #toKey = (uid: number): string => `imap:${this.#fullName}:${this.#known.uidValidity}:${uid}`;

  hasResults = async (): Promise<boolean> => (await this.#askResults()).size > 0;

  /** Thousands may be pending, and they are asked for more seldom then. */
  async #askResults(): Promise<Results> {
    const uids = [...this.#pending.keys()];
    if (this.#results.size === 0 && performance.now() >= this.#askAtMs) {
      this.#results = await this.#findResults(uids);
      this.#askAtMs = performance.now() + uids.length * this.#deps.limits.pauseMs;
    }
    return this.#results;
  }

  /**
   * Files the mails whose outcome is known. One that is stuck, or not in the inbox any more, stays where it is. A
   * refusal of the server ends nothing but filing, which is tried again later.
   */
  async fileDone(): Promise<void> {
    for (const uid of await this.filing.confirm(this.#open)) this.#pending.delete(uid);
    await this.#fileDue();
    await this.#save({});
  }

  async #fileDue(): Promise<void> {
    if (this.filing.isDue) await this.#fileEarlier();
    await this.#file(await this.#askResults());
    this.#results = new Map();
  }

  async #fileEarlier(): Promise<void> {
    const range = { from: this.#unfiledFrom, to: this.#known.read };
    this.filing.fault = undefined;
    for await (const { mails, to } of this.#open.listWindows(range)) {
      for (const { uid, size } of mails) this.#pending.set(uid, size);
      this.#unfiledFrom = to + 1;
      await this.#file(await this.#findResults(mails.map(({ uid }) => uid)));
      if (this.filing.fault !== undefined) return;
    }
    this.#unfiledFrom = Number.POSITIVE_INFINITY;
  }

  async #file(results: Results): Promise<void> {
    for (const outcome of ['processed', 'rejected'] as const) {
      const uids = [...results.keys()].filter((uid) => results.get(uid) === outcome);
      if (uids.length > 0 && !(await this.filing.file(this.#open, outcome, uids)))
        this.#unfiledFrom = Math.min(this.#unfiledFrom, ...uids);
    }
    for (const uid of results.keys()) if (!this.filing.mayBeThere(uid)) this.#pending.delete(uid);
    if (results.size > 0) await this.#save({});
  }

  /** The outcomes that are known; undefined of a mail that is not in the inbox. */
  async #findResults(uids: readonly number[]): Promise<Results> {
    if (uids.length === 0) return new Map();
    const byKey = await this.#deps.findResults(uids.map((uid) => this.#toKey(uid)));
    const results = uids.map((uid) => [uid, byKey.get(this.#toKey(uid))] as const);
    return new Map(results.filter(([, result]) => result !== 'waiting' && result !== 'delayed'));
  }

  /** What was read is saved only up to a mail that is there: a server may be wrong about the UIDs to come. */
  async #save({ read = this.#known.read }: { read?: number | undefined }): Promise<void> {
    // A server may give mails in another order than was asked for.
    const filed = Math.min(...this.#pending.keys(), this.#unfiledFrom, read + 1) - 1;
    if (read === this.#known.read && filed === this.#known.filed) return;
    this.#checkpoint = { ...this.#known, read, filed };
    this.#deps.onProgress();
    const text = toCheckpointText(this.#fullName, this.#checkpoint);
    await this.#deps.updateCheckpoint(this.door, text);
  }

  get #open(): MailboxConnection {
    if (this.#connection === undefined) throw new DoorFault('No mailbox is open.');
    return this.#connection;
  }

  get #known(): Checkpoint {
    if (this.#checkpoint === undefined) throw new DoorFault('No mailbox is open.');
    return this.#checkpoint;
  }
}
