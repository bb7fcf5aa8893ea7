import { describe, expect, test } from 'vitest';
import { MailboxConnection } from '../../../src/intake/doors/imap/connection.ts';
import { DoorFault, MailFault } from '../../../src/intake/doors/imap/fault.ts';
import { Fetches } from '../../../src/intake/doors/imap/fetches.ts';
import { MailboxReading } from '../../../src/intake/doors/imap/mailbox-reading.ts';
import { IMAP_LIMITS, type ImapLimits } from '../../../src/intake/doors/imap/options.ts';
import { MemoryInbox } from '../../support/imap-door.ts';

/** A server whose mailbox has these mails, and that answers a FETCH of their texts as it is told to. */
class Server {
  readonly mailbox = { uidValidity: 7n, exists: 1 };
  readonly usable = true;
  readonly states = { SELECTED: 3, LOGOUT: 4 };
  /** As in imapflow, a BYE changes this alone until the connection is closed. */
  state = this.states.SELECTED;
  uids: number[];
  /** The UIDs of the answer, for those that were asked for. */
  toAnswer: (uids: number[]) => Iterable<number> = (uids) => uids;

  constructor(...uids: number[]) {
    this.uids = uids;
  }

  on() {}

  stats() {
    return { received: 0 };
  }

  async noop() {}

  /** After a BYE, imapflow gives nothing and throws nothing. */
  async *fetch(range: string, query: { source?: unknown }) {
    if (this.state !== this.states.SELECTED) return;
    if (range.endsWith('*')) yield { uid: Math.max(...this.uids) };
    else if (query.source === undefined) {
      const [from = 0, to = 0] = range.split(':').map(Number);
      yield* this.uids.filter((uid) => uid >= from && uid <= to).map((uid) => ({ uid, size: 1 }));
    } else
      for (const uid of this.toAnswer(range.split(',').map(Number)))
        yield { uid, source: Buffer.from(`mail ${uid}`) };
  }
}

interface AReader {
  readonly signal: AbortSignal;
  readonly limits: Partial<ImapLimits>;
}

async function aReader(
  server: Server,
  inbox = new MemoryInbox(),
  { signal = new AbortController().signal, limits = {} }: Partial<AReader> = {},
) {
  const filed: number[] = [];
  const fetches = new Fetches(IMAP_LIMITS);
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const given = {
    ...{ ...inbox.toGiven(), fetches, log: log as never },
    limits: { ...IMAP_LIMITS, pauseMs: 0, ...limits },
    ...{ now: () => new Date('2026-03-15T04:00:00Z'), signal },
    onProgress: () => {},
  };
  const options = { host: 'mail.example.com', port: 993, user: 'u', mailbox: 'INBOX' };
  const rest = { door: 'imap', security: 'tls', done: 'move' } as const;
  const connection = new MailboxConnection(server as never, IMAP_LIMITS);
  connection.file = async (_outcome, uids) => {
    filed.push(...uids);
    return [];
  };
  const reader = new MailboxReading({ ...options, ...rest }, given);
  await reader.resume(connection);
  return { reader, inbox, filed };
}

const toCheckpoint = ({ checkpoint = '{}' }: MemoryInbox) => JSON.parse(checkpoint);

describe('a mail that is listed', () => {
  test('and left out of the answer is asked for once more', async () => {
    const server = new Server(1, 2, 3);
    let asked = 0;
    server.toAnswer = (uids) => (asked++ === 0 ? uids.filter((uid) => uid !== 2) : uids);
    const { reader, inbox } = await aReader(server);
    await reader.readNew();
    expect([...inbox.mails.values()].sort()).toEqual(['mail 1', 'mail 2', 'mail 3']);
    expect(toCheckpoint(inbox).read).toBe(3);
  });

  test('and left out twice is not passed over as long as it exists', async () => {
    const server = new Server(1, 2, 3);
    server.toAnswer = (uids) => uids.filter((uid) => uid !== 2);
    const { reader, inbox } = await aReader(server);
    await expect(reader.readNew()).rejects.toThrow(MailFault);
    expect(toCheckpoint(inbox).read).toBe(1);
  });

  test('and deleted before it is fetched is passed over', async () => {
    const server = new Server(1, 2, 3);
    server.toAnswer = (uids) => {
      server.uids = [1, 3];
      return uids.filter((uid) => uid !== 2);
    };
    const { reader, inbox } = await aReader(server);
    await reader.readNew();
    expect(toCheckpoint(inbox).read).toBe(3);
  });
});

describe('a mail that is in the mailbox', () => {
  test('and left out of the answer while the process stops is not passed over', async () => {
    const server = new Server(1, 2, 3);
    const stopping = new AbortController();
    server.toAnswer = (uids) => {
      stopping.abort();
      return uids.filter((uid) => uid !== 2);
    };
    const { reader, inbox } = await aReader(server, new MemoryInbox(), stopping);
    await expect(reader.readNew()).rejects.toThrow(MailFault);
    expect(toCheckpoint(inbox).read).toBe(1);
  });

  test('and not given because the server has said goodbye is read by the next connection', async () => {
    const server = new Server(1, 2, 3);
    server.toAnswer = () => {
      server.state = server.states.LOGOUT;
      return [];
    };
    const { reader, inbox } = await aReader(server);
    await expect(reader.readNew()).rejects.toThrow(DoorFault);
    expect(inbox.checkpoint).toBeUndefined();

    const next = await aReader(new Server(1, 2, 3), inbox);
    await next.reader.readNew();
    expect(inbox.mails.size).toBe(3);
  });

  test('and not listed because the server has said goodbye is filed by the next connection', async () => {
    const inbox = new MemoryInbox();
    inbox.toResult = () => 'waiting';
    const { reader } = await aReader(new Server(1, 2, 3), inbox);
    await reader.readNew();
    inbox.toResult = () => 'processed';

    const server = new Server(1, 2, 3);
    server.state = server.states.LOGOUT;
    await expect(aReader(server, inbox)).rejects.toThrow(DoorFault);
    expect(toCheckpoint(inbox)).toMatchObject({ read: 3, filed: 0 });
    const next = await aReader(new Server(1, 2, 3), inbox);
    expect(next.filed.toSorted()).toEqual([1, 2, 3]);
  });
});

test('mails that come in another order than they have are filed after a connection ends', async () => {
  const server = new Server(1, 2, 3, 4);
  server.toAnswer = (uids) => uids.toReversed();
  const inbox = new MemoryInbox();
  inbox.toResult = () => 'waiting';
  const { reader } = await aReader(server, inbox);
  await reader.readNew();
  expect(toCheckpoint(inbox)).toMatchObject({ read: 4, filed: 0 });
  inbox.toResult = () => 'processed';
  const next = await aReader(server, inbox);
  expect(next.filed.toSorted()).toEqual([1, 2, 3, 4]);
});

test('thousands of costly mails of a stranger do not keep an honest one behind them in the mailbox out', async () => {
  const inbox = new MemoryInbox();
  const honest = 5_001;
  inbox.toResult = (text) => (text === `mail ${honest}` ? 'processed' : 'waiting');
  const server = new Server(...Array.from({ length: honest }, (_, i) => i + 1));
  const { reader, filed } = await aReader(server, inbox);
  await reader.readNew();
  expect([reader.isFull(), inbox.mails.size]).toEqual([false, honest]);
  await reader.fileDone();
  expect(filed).toEqual([honest]);
  expect(toCheckpoint(inbox)).toMatchObject({ read: honest, filed: 0 });
  inbox.toResult = () => 'delayed';
  expect(await reader.hasResults()).toBe(false);
  inbox.toResult = () => 'processed';
  await reader.fileDone();
  expect(filed).toHaveLength(honest);
});

const { batchMails } = IMAP_LIMITS;

test.each([
  ['so many mails', { maxPending: batchMails }],
  ['so many bytes', { maxPendingBytes: batchMails * 'mail 1'.length }],
])(
  '%s wait in the inbox, others in the mailbox until some of them are read',
  async (_what, limits) => {
    const inbox = new MemoryInbox();
    inbox.toResult = () => 'waiting';
    const server = new Server(...Array.from({ length: 3 * batchMails }, (_, i) => i + 1));
    const { reader } = await aReader(server, inbox, { limits });
    await reader.readNew();
    expect([reader.isFull(), inbox.mails.size]).toEqual([true, batchMails]);
    inbox.toResult = () => 'processed';
    await reader.fileDone();
    await reader.readNew();
    expect(inbox.mails.size).toBe(2 * batchMails);
  },
);
