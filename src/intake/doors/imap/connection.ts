import { setTimeout as sleep } from 'node:timers/promises';
import type { FetchMessageObject, ImapFlow } from 'imapflow';
import { readSecrets } from './credentials.ts';
import { DoorFault, type ImapError, toSaid } from './fault.ts';
import { type FiledResult, fileMails } from './filing.ts';
import type { ImapLimits, ImapOptions, MailboxOptions } from './options.ts';
import { toPaths } from './paths.ts';
import { createClient, ImapSession } from './session.ts';

/** The length of the answer for one mail, without its text. */
const LINE_BYTES = 256;
/** Servers say a wrong size of mails at times. */
const SIZE_FACTOR = 2;
/** The largest UID (RFC 3501, section 9, nz-number). */
const MAX_UID = 2 ** 32 - 1;

export interface MailboxMail {
  readonly uid: number;
  /** Bytes, as the server says; 0 when it does not. */
  readonly size: number;
}

/** UIDs from one to another, both included. */
interface UidRange {
  readonly from: number;
  /** Without it, up to the last mail. */
  readonly to?: number;
}

/** Connects, opens the mailbox, and works with it. Throws when the connection ends. */
export async function withConnection(
  options: ImapOptions,
  { limits, signal }: { readonly limits: ImapLimits; readonly signal: AbortSignal },
  work: (connection: MailboxConnection) => Promise<void>,
): Promise<void> {
  const client = createClient(options, limits, await readSecrets(options, signal));
  // A command in progress ends first: a MOVE that is cut off may leave a mail in both folders.
  const closeSoon = () => void setTimeout(() => client.close(), limits.stopMs).unref();
  signal.addEventListener('abort', closeSoon);
  try {
    if (signal.aborted) return;
    const connection = new MailboxConnection(client, limits);
    await connection.open(options);
    await work(connection);
  } finally {
    signal.removeEventListener('abort', closeSoon);
    client.close();
  }
}

/** A connection with one open mailbox. */
export class MailboxConnection {
  readonly #session: ImapSession;
  #done: MailboxOptions['done'] = 'leave';
  /** Whether the server has told of a mail since the mailbox was listed. */
  #hasNews = false;
  /** Whether the server has been asked for the mailbox's present state. */
  #isFresh = true;
  /** What the server cannot do for the operator, for people. */
  shortfall: string | undefined;

  constructor(client: ImapFlow, limits: ImapLimits) {
    this.#session = new ImapSession(client, limits);
  }

  /** With nothing to change it is EXAMINE: the server itself then keeps the mails as they are. */
  async open({ mailbox, done }: MailboxOptions): Promise<void> {
    const { client } = this.#session;
    await this.#session.bounded(() => client.connect());
    const { readOnly } = await this.#select(mailbox, done === 'leave');
    client.on('exists', () => {
      this.#hasNews = true;
    });
    if (done === 'leave') return;
    const { capabilities } = client;
    if (readOnly) this.shortfall = `${mailbox} is read-only, so its mails are left alone.`;
    else if (done === 'move' && !(capabilities.has('MOVE') || capabilities.has('UIDPLUS'))) {
      // Without either, removing a mail would remove whatever other people marked as deleted.
      this.shortfall = 'Mails are flagged and not moved: the server has neither MOVE nor UIDPLUS.';
      this.#done = 'flag';
    } else this.#done = done;
  }

  async #select(mailbox: string, readOnly: boolean) {
    const { client } = this.#session;
    const { namespaces } = client;
    // imapflow would put its prefix before names of other namespaces.
    client.namespace = undefined;
    const refusals: string[] = [];
    for (const path of toPaths(mailbox, namespaces)) {
      // Without it imapflow lists the folder before it opens it, and then those that are subscribed to.
      (client as unknown as { folders: Map<string, object> }).folders.set(path, {});
      try {
        return await this.#session.bounded(() => client.mailboxOpen(path, { readOnly }));
      } catch (error) {
        const { responseText } = error as ImapError;
        if (responseText === undefined) throw error;
        refusals.push(`${path} (${toSaid(responseText)})`);
      }
    }
    throw new DoorFault(`The server does not open the mailbox ${refusals.join(', nor ')}.`);
  }

  get uidValidity(): string {
    const { mailbox } = this.#session.client;
    if (!mailbox) throw new DoorFault('No mailbox is open.');
    return String(mailbox.uidValidity);
  }

  /** Lets the server tell of mails that came or went. It has just done so when the mailbox is opened. */
  async refresh(): Promise<void> {
    this.#hasNews = false;
    if (!this.#isFresh) await this.#session.bounded(() => this.#session.client.noop());
    this.#isFresh = false;
    this.#session.requireOpen();
  }

  /**
   * The lowest UID from one on, or a higher one when mails go meanwhile; undefined when there is none. It goes by the numbers
   * of mails, which have no gaps: so few commands are enough, whatever UIDs a server gives.
   */
  async #findNextUid(from: number): Promise<number | undefined> {
    const { mailbox } = this.#session.client;
    let [low, high] = [1, mailbox ? mailbox.exists : 0];
    let next: number | undefined;
    for (let number = high; low <= high; number = Math.floor((low + high) / 2)) {
      const found = new Map<number, number>();
      const take = ({ seq, uid }: FetchMessageObject) => void found.set(seq, uid);
      await this.#session.fetch(`${number}`, { uid: true }, 0, take, { uid: false });
      // Servers tell of other mails meanwhile (RFC 3501, section 7.4.2).
      const uid = found.get(number);
      next = uid !== undefined && uid >= from ? uid : next;
      if (uid !== undefined && uid < from) low = number + 1;
      else high = number - 1;
    }
    return next;
  }

  /**
   * The mails of a range, ascending, in windows. Mails come while the range is listed. So a window is whole up to its last
   * mail only, or up to a mail that was there before it was asked for.
   */
  async *listWindows({ from, to = MAX_UID }: UidRange) {
    const { windowUids } = this.#session.limits;
    for (let first = from; first <= to; ) {
      const last = Math.min(to, first + windowUids - 1);
      const listed = dropUnasked(await this.listMails({ from: first, to: last }));
      const mails = listed.length > 0 ? listed : await this.#listNext(first, to);
      const listedTo = mails.at(-1)?.uid;
      if (listedTo === undefined) return;
      yield { mails, to: listedTo };
      first = listedTo + 1;
    }
  }

  /** The mails up to the next one that is there: UIDs may have large gaps. */
  async #listNext(from: number, to: number): Promise<MailboxMail[]> {
    const next = await this.#findNextUid(from);
    if (next === undefined || next > to) return [];
    const mails = await this.listMails({ from, to: next });
    if (mails.length > 0) return mails;
    throw new DoorFault(`The server names mail ${next}, and does not list it.`);
  }

  /** The mails of a range, ascending. A range has few mails, however wide it is. */
  async listMails({ from, to }: Required<UidRange>): Promise<MailboxMail[]> {
    const mails = new Map<number, MailboxMail>();
    const bytes = LINE_BYTES * Math.min(this.#session.limits.windowUids, to - from + 1);
    const query = { uid: true, size: true };
    await this.#session.fetch(`${from}:${to}`, query, bytes, ({ uid, size = 0 }) => {
      if (uid >= from && uid <= to)
        mails.set(uid, { uid, size: Math.max(size, mails.get(uid)?.size ?? 0) });
    });
    return [...mails.values()].sort((a, b) => a.uid - b.uid);
  }

  /** Gives the mails with their text, in any order. A server may leave some of them, or their text, out. */
  async fetchMails(mails: readonly MailboxMail[], take: (mail: FetchMessageObject) => void) {
    if (mails.length === 0) return;
    const wanted = new Set(mails.map(({ uid }) => uid));
    const bytes = mails.reduce((sum, { size }) => sum + LINE_BYTES + SIZE_FACTOR * size, 0);
    // PEEK, which imapflow uses always: a mail that is read here stays unseen.
    const query = { uid: true, source: { start: 0, maxLength: this.#session.limits.maxMailBytes } };
    await this.#session.fetch([...wanted].join(','), query, bytes, (mail) => {
      if (wanted.has(mail.uid)) take(mail);
    });
  }

  /** See `fileMails`. */
  async file(result: FiledResult, uids: readonly number[]): Promise<readonly number[]> {
    return await fileMails(this.#session, this.#done, { result, uids });
  }

  /** Returns which of the mails are in the mailbox. */
  async listPresent(uids: readonly number[]): Promise<number[]> {
    if (uids.length === 0) return [];
    const present = new Set<number>();
    const bytes = LINE_BYTES * uids.length;
    const note = ({ uid }: FetchMessageObject) => void present.add(uid);
    await this.#session.fetch(uids.join(','), { uid: true }, bytes, note);
    return uids.filter((uid) => present.has(uid));
  }

  /**
   * Waits until there may be something to do: the server tells of a mail that there is room for, an outcome is known,
   * or it is time to look. Throws when the connection ends.
   */
  async wait(
    { isFull, hasResults }: { isFull: () => boolean; hasResults: () => Promise<boolean> },
    signal: AbortSignal,
  ): Promise<void> {
    const { idleMs, pollMs, resultsMs } = this.#session.limits;
    const canIdle = this.#session.client.capabilities.has('IDLE');
    const ms = canIdle ? idleMs : pollMs;
    const untilMs = performance.now() + ms;
    // It lasts until the next command.
    if (canIdle) void this.#session.client.idle().catch(() => false);
    const wait = async () => {
      while (performance.now() < untilMs && !signal.aborted) {
        // First, so that a server that always has news is not asked without a pause.
        await sleep(resultsMs, undefined, { signal }).catch(() => undefined);
        this.#session.requireOpen();
        if ((this.#hasNews && !isFull()) || (await hasResults())) return;
      }
    };
    await this.#session.bounded(wait, { ms });
  }
}

/**
 * Leaves out the last mails if they have no size: a server tells of the flags of mails that came after it began to answer,
 * and others may have come before them.
 */
function dropUnasked(mails: readonly MailboxMail[]): MailboxMail[] {
  return mails.slice(0, mails.findLastIndex(({ size }) => size > 0) + 1);
}
