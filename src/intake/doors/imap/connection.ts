import { setTimeout as sleep, setImmediate as yieldToOthers } from 'node:timers/promises';
import { type FetchMessageObject, ImapFlow } from 'imapflow';
import { readCredentials } from './credentials.ts';
import { DoorFault } from './fault.ts';
import { IMAP_DOOR, type ImapDeps, type ImapLimits, type ImapOptions } from './options.ts';

/** For what the server says around a mail. */
const MARGIN_BYTES = 1024 * 1024;
/** Without a pause, nothing else of the process runs as long as the server has more to say. */
const RESPONSES_AT_ONCE = 200;
/** A server may tell of changed flags meanwhile, in responses of the same kind (RFC 3501, section 7.4.2). */
const RESPONSES_PER_MAIL = 2;

const FOLDERS = { processed: 'Processed', rejected: 'Rejected' } as const;
/** How mails are flagged that are not moved: rejected ones stand out. */
const FLAGS = { processed: ['\\Seen'], rejected: ['\\Seen', '\\Flagged'] };

export interface ListedMail {
  readonly uid: number;
  /** Bytes, as the server says. */
  readonly size: number;
}

/** UIDs from one to another, both included. */
interface UidRange {
  readonly from: number;
  readonly to: number;
}

interface ConnectDeps {
  readonly limits: ImapLimits;
  readonly log: ImapDeps['log'];
  readonly signal: AbortSignal;
}

/** Connects, opens the mailbox, and works with it. Throws when the connection ends. */
export async function withConnection(
  options: ImapOptions,
  { limits, log, signal }: ConnectDeps,
  work: (connection: MailboxConnection) => Promise<void>,
): Promise<void> {
  const client = await createClient(options, limits, signal);
  // A command in progress ends first: a MOVE that is cut off may leave a mail in both folders.
  const closeSoon = () => void setTimeout(() => client.close(), limits.stopMs).unref();
  signal.addEventListener('abort', closeSoon);
  try {
    if (signal.aborted) return;
    await client.connect();
    const connection = new MailboxConnection(client, limits);
    await connection.open(options, log);
    await work(connection);
  } finally {
    signal.removeEventListener('abort', closeSoon);
    client.close();
  }
}

async function createClient(
  options: ImapOptions,
  limits: ImapLimits,
  signal: AbortSignal,
): Promise<ImapFlow> {
  const { host, port, user, security, ca } = options;
  const client = new ImapFlow({
    host,
    port,
    secure: security === 'tls',
    ...(security === 'tls' ? {} : { doSTARTTLS: security === 'starttls' }),
    auth: { user, ...(await readCredentials(options.credentials, signal)) },
    tls: { minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) },
    clientInfo: { name: 'Plumbline' },
    logger: false,
    disableAutoIdle: true,
    maxIdleTime: limits.idleMs,
    socketTimeout: limits.socketMs,
    maxLiteralSize: limits.maxMailBytes + MARGIN_BYTES,
    maxResponseSize: limits.maxMailBytes + 2 * MARGIN_BYTES,
    maxLineLength: MARGIN_BYTES,
  });
  // The same error ends the command in progress. Without a listener it would end the process.
  client.on('error', () => {});
  return client;
}

/** A connection with one open mailbox. Every command to the server is here. */
export class MailboxConnection {
  readonly #client: ImapFlow;
  readonly #limits: ImapLimits;
  #done: ImapOptions['done'] = 'leave';
  /** Whether the server has told of a mail since the mailbox was listed. */
  #hasNews = false;

  constructor(client: ImapFlow, limits: ImapLimits) {
    this.#client = client;
    this.#limits = limits;
  }

  /** With nothing to change it is EXAMINE: the server itself then keeps the mails as they are. */
  async open({ mailbox, done }: ImapOptions, log: ImapDeps['log']): Promise<void> {
    const opened = await this.#client.mailboxOpen(mailbox, { readOnly: done === 'leave' });
    this.#client.on('exists', () => {
      this.#hasNews = true;
    });
    if (opened.readOnly) {
      if (done !== 'leave')
        log.warn({ door: IMAP_DOOR }, `imap: ${mailbox} is read-only, so its mails are left alone`);
      return;
    }
    this.#done = done === 'move' && !this.#canMove() ? 'flag' : done;
    if (this.#done !== 'move') return;
    for (const folder of Object.values(FOLDERS)) await this.#makeFolder(folder);
  }

  /** Without these extensions, removing a mail would remove whatever other people marked as deleted. */
  #canMove(): boolean {
    const { capabilities } = this.#client;
    return capabilities.has('MOVE') || capabilities.has('UIDPLUS');
  }

  async #makeFolder(folder: string): Promise<void> {
    try {
      await this.#client.mailboxCreate(folder);
    } catch (error) {
      // Older servers answer NO without a code when it is there already.
      const isThere = (await this.#client.list()).some(
        ({ path, name }) => path === folder || name === folder,
      );
      if (!isThere) throw error;
    }
  }

  get uidValidity(): string {
    const { mailbox } = this.#client;
    if (!mailbox) throw new DoorFault('No mailbox is open.');
    return String(mailbox.uidValidity);
  }

  /** The highest UID in the mailbox; 0 when it is empty. */
  async findHighestUid(): Promise<number> {
    this.#hasNews = false;
    // Tells of mails that came or went since.
    await this.#client.noop();
    const last = await this.#client.fetchOne('*', { uid: true });
    this.#requireOpen();
    return last ? last.uid : 0;
  }

  /** The mails of a range, ascending. A window without any mail doubles the next one: UIDs may have large gaps. */
  async *listWindows({
    from,
    to,
  }: UidRange): AsyncGenerator<{ readonly mails: readonly ListedMail[]; readonly to: number }> {
    const { windowUids, maxWindowUids } = this.#limits;
    let width = windowUids;
    for (let first = from; first <= to; ) {
      const last = Math.min(to, first + width - 1);
      const mails = await this.listMails({ from: first, to: last });
      yield { mails, to: last };
      width = mails.length > 0 ? windowUids : Math.min(maxWindowUids, width * 2);
      first = last + 1;
    }
  }

  /** The mails of a range, ascending. */
  async listMails({ from, to }: UidRange): Promise<ListedMail[]> {
    const mails = new Map<number, ListedMail>();
    const query = { uid: true, size: true };
    const responses = this.#client.fetch(`${from}:${to}`, query, { uid: true });
    for await (const { uid, size = 0 } of bound(responses, to - from + 1))
      if (uid >= from && uid <= to && !mails.has(uid)) mails.set(uid, { uid, size });
    this.#requireOpen();
    return [...mails.values()].sort((a, b) => a.uid - b.uid);
  }

  /** The mails with their text, in any order. A server may leave some of them, or their text, out. */
  async *fetch(uids: ReadonlySet<number>): AsyncGenerator<FetchMessageObject> {
    if (uids.size === 0) return;
    // PEEK, which imapflow uses always: a mail that is read here stays unseen.
    const query = { uid: true, source: { start: 0, maxLength: this.#limits.maxMailBytes } };
    const responses = this.#client.fetch([...uids].join(','), query, { uid: true });
    for await (const mail of bound(responses, uids.size)) if (uids.has(mail.uid)) yield mail;
    this.#requireOpen();
  }

  /**
   * Of a connection that has ended, imapflow gives no mails and no error: it must not count as an empty mailbox. Its
   * state changes when the server says BYE, some time before the connection is closed.
   */
  #requireOpen(): void {
    const { usable, mailbox, state, states } = this.#client;
    if (!usable || !mailbox || state !== states.SELECTED)
      throw new DoorFault('The server ended the connection.');
  }

  /** Moves or flags mails with a known outcome. Throws a DoorFault when the server does not. */
  async file(outcome: keyof typeof FOLDERS, uids: readonly number[]): Promise<void> {
    if (this.#done === 'leave' || uids.length === 0) return;
    const range = uids.join(',');
    if (this.#done === 'flag') {
      if (!(await this.#client.messageFlagsAdd(range, [...FLAGS[outcome]], { uid: true })))
        throw new DoorFault('The server did not flag mails.');
    } else if (!(await this.#client.messageMove(range, FOLDERS[outcome], { uid: true })))
      throw new DoorFault(`The server did not move mails to ${FOLDERS[outcome]}.`);
  }

  /**
   * Waits until there may be something to do: the server tells of a mail that there is room for, an outcome is known,
   * or it is time to look. Throws when the connection ends.
   */
  async wait(
    { isFull, hasResults }: { isFull: () => boolean; hasResults: () => Promise<boolean> },
    signal: AbortSignal,
  ): Promise<void> {
    const { idleMs, pollMs, resultsMs } = this.#limits;
    const canIdle = this.#client.capabilities.has('IDLE');
    const untilMs = performance.now() + (canIdle ? idleMs : pollMs);
    // It lasts until the next command.
    if (canIdle) void this.#client.idle().catch(() => false);
    while (performance.now() < untilMs && !signal.aborted) {
      if (this.#hasNews && !isFull()) return;
      this.#requireOpen();
      if (await hasResults()) return;
      await sleep(resultsMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** The responses to a FETCH of so many mails. Throws a DoorFault when the server does not come to an end. */
async function* bound<T>(responses: AsyncIterable<T>, mails: number): AsyncGenerator<T> {
  let count = 0;
  for await (const response of responses) {
    count += 1;
    if (count > RESPONSES_PER_MAIL * mails + 1)
      throw new DoorFault('The server answers with more mails than it was asked for.');
    if (count % RESPONSES_AT_ONCE === 0) await yieldToOthers();
    yield response;
  }
}
