import { hash, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Failure } from '../../../src/domain/failure.ts';
import { MAX_INCOMING_BYTES } from '../../../src/domain/incoming.ts';
import {
  findAccountByToken,
  findMailToken,
  updateMailToken,
} from '../../../src/store/accounts/mail-address.ts';
import type { Db } from '../../../src/store/engine/database.ts';
import { claimMails } from '../../../src/store/inbox/claims.ts';
import { createDeliver } from '../../../src/store/inbox/deliver.ts';
import {
  findCheckpoint,
  listDoors,
  noteDoor,
  readFailing,
  updateCheckpoint,
} from '../../../src/store/inbox/doors.ts';
import { findResults } from '../../../src/store/inbox/mails.ts';
import { PART_BYTES, readMailContent, toFirstId } from '../../../src/store/inbox/parts.ts';
import { tidyInbox } from '../../../src/store/inbox/tidy.ts';
import { aBareAccount, NOW } from '../../support/builders.ts';
import { caseCount } from '../../support/counts.ts';
import { failingDb } from '../../support/failing-db.ts';
import { deliverMail, listMailRows } from '../../support/inbox.ts';
import { aStore } from '../../support/store.ts';

const MIB = 1024 * 1024;
const HOLDER = { id: 'test', claimMs: 60_000 };
const WANTED = { holder: HOLDER, mails: 100, bytes: 1_000 * MIB };

const countParts = async (db: Db) =>
  (await db.selectFrom('inbox_part').select('part').execute()).length;

async function* chunked(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe('a mail that a door delivers', () => {
  test.each([0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 3 * PART_BYTES + 17])(
    'has its bytes, in parts of 256 KiB, when it has %i of them',
    async (size) => {
      const { db } = await aStore();
      const bytes = randomBytes(size);
      await deliverMail(db, { bytes });
      await deliverMail(db, { bytes: chunked(bytes, 75_000) });
      const { mails } = await claimMails(db, WANTED);
      expect(mails).toHaveLength(2);
      for (const mail of mails) {
        expect(bytes.equals(await readMailContent(db, mail))).toBe(true);
        expect(mail.sha256).toBe(hash('sha256', bytes, 'hex'));
      }
      expect(await countParts(db)).toBe(2 * Math.max(1, Math.ceil(size / PART_BYTES)));
    },
  );

  test('is not held in the chunks that it came in', async () => {
    const { db } = await aStore();
    const bytes = randomBytes(3_000);
    // A client that sends single bytes would otherwise take a hundred times the memory.
    const one = Buffer.alloc(1);
    const singly = (async function* () {
      for (const byte of bytes) yield one.fill(byte);
    })();
    await deliverMail(db, { bytes: singly });
    const [mail] = (await claimMails(db, WANTED)).mails;
    if (mail === undefined) throw new Error('no mail');
    expect(bytes.equals(await readMailContent(db, mail))).toBe(true);
  });

  test('is stored once when it has a key, whatever it is delivered with again', async () => {
    const { db } = await aStore();
    const key = 'k'.repeat(5_000);
    await deliverMail(db, { key });
    await deliverMail(db, { key });
    await deliverMail(db, { key, bytes: randomBytes(2 * PART_BYTES) });
    await Promise.all([1, 2, 3].map(() => deliverMail(db, { key: 'other' })));
    expect(await listMailRows(db)).toHaveLength(2);
    expect(await countParts(db)).toBe(2);
    expect(await findResults(db, [key, 'other', 'unknown'])).toEqual(
      new Map([
        [key, 'waiting'],
        ['other', 'waiting'],
      ]),
    );
  });

  test('that does not come in to its end leaves nothing', async () => {
    const { db } = await aStore();
    const bytes = (async function* () {
      yield randomBytes(2 * PART_BYTES + 5);
      throw new Error('The client is gone.');
    })();
    await expect(deliverMail(db, { bytes })).rejects.toThrow('The client is gone.');
    expect(await listMailRows(db)).toEqual([]);
    expect(await countParts(db)).toBe(0);
  });

  test('that is too large is refused while it comes in', async () => {
    const { db } = await aStore();
    let given = 0;
    const bytes = (async function* () {
      for (; given < 2 * MAX_INCOMING_BYTES; given += 32 * MIB) yield Buffer.alloc(32 * MIB);
    })();
    await expect(deliverMail(db, { bytes })).rejects.toMatchObject({ code: 'limit_reached' });
    expect(given).toBeLessThanOrEqual(MAX_INCOMING_BYTES + 32 * MIB);
    expect(await countParts(db)).toBe(0);
  });

  test('has an envelope of bounded size', async () => {
    const { db } = await aStore();
    const long = `${'a'.repeat(1_000)}\0\ud800`;
    const recipients = Array.from({ length: 1_000 }, () => long);
    await deliverMail(db, { envelope: { sender: long, recipients, place: '\ud800\0' } });
    const [row] = await listMailRows(db);
    expect(row?.envelope.length).toBeLessThan(10_000);
    const envelope = JSON.parse(row?.envelope ?? '');
    expect(envelope.place).toBe('\ufffd\ufffd');
    const cut = 'a'.repeat(320);
    expect(envelope.recipients).toEqual(Array.from({ length: 20 }, () => cut));
  });
});

/** Counts transactions. */
function counting(db: Db) {
  const count = { writes: 0 };
  const write: Db['write'] = (change) => {
    count.writes += 1;
    return db.write(change);
  };
  return { db: { ...db, write }, count };
}

async function yieldTimes(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await yieldToOthers();
}

/** Does some work while a millisecond is twenty turns of the event loop, however busy the machine is. */
async function inTurns(work: () => Promise<unknown>): Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let isDone = false;
  const done = work().finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await yieldTimes(20);
    await vi.advanceTimersByTimeAsync(1);
  }
  await done;
}

describe('mails that doors deliver at the same time', () => {
  const toIncoming = (i: number, accountId?: string) => ({
    ...{ door: 'smtp' as const, envelope: {}, receivedAt: NOW, key: `${i}`, accountId },
    bytes: Buffer.from(`mail ${i}`),
  });

  test('share a transaction, up to a number of mails and bytes', async () => {
    const { db } = await aStore();
    const counted = counting(db);
    const deliver = createDeliver(counted.db);
    const small = Array.from({ length: 100 }, (_, i) => deliver(toIncoming(i)));
    await Promise.all(small);
    expect(counted.count.writes).toBeLessThanOrEqual(3);
    const large = Array.from({ length: 16 }, (_, i) =>
      deliver({ ...toIncoming(100 + i), bytes: randomBytes(PART_BYTES) }),
    );
    await Promise.all(large);
    expect(counted.count.writes).toBeGreaterThanOrEqual(2 + 16 / 4);
    expect(await listMailRows(db)).toHaveLength(116);
    expect(await countParts(db)).toBe(116);
  });

  test('share a transaction when the last byte of each comes a little after that of the one before', async () => {
    const { db } = await aStore();
    const counted = counting(db);
    const deliver = createDeliver(counted.db);
    const come = async function* (i: number) {
      await yieldTimes(4 * i);
      yield Buffer.from(`mail ${i}`);
    };
    await inTurns(() =>
      Promise.all(
        Array.from({ length: 32 }, (_, i) => deliver({ ...toIncoming(i), bytes: come(i) })),
      ),
    );
    expect(counted.count.writes).toBeLessThanOrEqual(4);
    expect(await listMailRows(db)).toHaveLength(32);
  });

  test('are all stored when each of five senders sends them one after another, and one that comes alone after them', async () => {
    const { db } = await aStore();
    const deliver = createDeliver(db);
    let sent = 0;
    const send = () => deliver(toIncoming(++sent));
    const sendTen = async () => {
      for (let i = 0; i < 10; i += 1) await send();
    };
    await Promise.all(Array.from({ length: 5 }, sendTen));
    await send();
    expect(await listMailRows(db)).toHaveLength(51);
  });

  test('share a transaction when five senders began at different times', async () => {
    const { db } = await aStore();
    const counted = counting(db);
    const write: Db['write'] = async (change) => {
      const stored = await counted.db.write(change);
      // As a commit that waits for the disk: others go on meanwhile.
      await yieldTimes(5);
      return stored;
    };
    const deliver = createDeliver({ ...db, write });
    let sent = 0;
    const sendTen = async (_: unknown, sender: number) => {
      // Two begin, and three while their mails are stored.
      await yieldTimes(sender < 2 ? 0 : 2);
      for (let i = 0; i < 10; i += 1) {
        await deliver(toIncoming(++sent));
        await yieldTimes(4 * sender);
      }
    };
    await inTurns(() => Promise.all(Array.from({ length: 5 }, sendTen)));
    expect(await listMailRows(db)).toHaveLength(50);
    // Fifteen if those who wait went on without those who were answered.
    expect(counted.count.writes).toBeLessThanOrEqual(13);
  });

  test('wait for nobody when one sender sends one after another, and once for one that has stopped', async () => {
    const { db } = await aStore();
    const deliver = createDeliver(db);
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    for (let i = 0; i < 3; i += 1) await deliver(toIncoming(i));
    await Promise.all([deliver(toIncoming(3)), deliver(toIncoming(4))]);
    let isStored = false;
    const stored = deliver(toIncoming(5)).then(() => {
      isStored = true;
    });
    await yieldTimes(100);
    expect(isStored).toBe(false);
    await vi.advanceTimersByTimeAsync(100);
    await stored;
    for (let i = 6; i < 9; i += 1) await deliver(toIncoming(i));
    expect(await listMailRows(db)).toHaveLength(9);
  });

  test('are stored although the database refuses the values of one of them', async () => {
    const { db } = await aStore();
    const deliver = createDeliver(db);
    const deleted = randomUUID();
    const delivered = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => deliver(toIncoming(i, i === 7 ? deleted : undefined))),
    );
    const refused = delivered.flatMap(({ status }, i) => (status === 'rejected' ? [i] : []));
    expect(refused).toEqual([7]);
    expect(await listMailRows(db)).toHaveLength(19);
    expect(await countParts(db)).toBe(19);
  });

  test('are each confirmed only when they are stored, at whatever step the database fails', async () => {
    const every = caseCount({ few: 3, full: 1 });
    let isDone = false;
    for (let after = randomInt(every); !isDone; after += every) {
      const { db } = await aStore();
      const failing = failingDb(db, after);
      const deliver = createDeliver(failing.db);
      const delivered = await Promise.allSettled(
        Array.from({ length: 8 }, (_, i) => deliver(toIncoming(i))),
      );
      isDone = failing.count.steps <= after;
      const confirmed = delivered.filter(({ status }) => status === 'fulfilled').length;
      const stored = (await listMailRows(db)).length;
      expect(stored).toBeGreaterThanOrEqual(confirmed);
      // The doors still have the others, and deliver them again.
      for (let i = 0; i < 8; i += 1) await createDeliver(db)(toIncoming(i));
      expect(await listMailRows(db)).toHaveLength(8);
      expect(await countParts(db)).toBe(8);
      expect(after).toBeLessThan(60);
    }
  });
});

describe('a database that fails while a mail is delivered', () => {
  test.each([
    ['small', 100],
    ['large', 2 * PART_BYTES + 9],
  ])('at any step never leaves half of a %s mail', async (_size, size) => {
    const bytes = randomBytes(size);
    let isDone = false;
    const every = caseCount({ few: 3, full: 1 });
    for (let after = randomInt(every); !isDone; after += every) {
      const { db } = await aStore();
      const failing = failingDb(db, after);
      const delivered = await deliverMail(failing.db, { bytes, key: 'k' }).then(
        () => true,
        (error) => {
          expect(error).toMatchObject({ code: 'unavailable' });
          return false;
        },
      );
      isDone = failing.count.steps <= after;
      expect(delivered).toBe(isDone);
      // The door still has it, and delivers it again.
      if (!delivered) await deliverMail(db, { bytes, key: 'k' });
      const { mails } = await claimMails(db, WANTED);
      expect(mails).toHaveLength(1);
      expect(bytes.equals(await readMailContent(db, mails[0] as never))).toBe(true);
      expect(after).toBeLessThan(60);
    }
  });

  test('whose answer to the last commit is lost deletes no bytes of the mail that is stored', async () => {
    const { db } = await aStore();
    const bytes = randomBytes(2 * PART_BYTES + 9);
    let writes = 0;
    const losing: Db = {
      ...db,
      write: async (change) => {
        const result = await db.write(change);
        writes += 1;
        if (writes === 3) throw new Error('The connection was lost.');
        return result;
      },
    };
    await expect(deliverMail(losing, { bytes })).rejects.toMatchObject({ code: 'unavailable' });
    const [mail] = (await claimMails(db, WANTED)).mails;
    expect(bytes.equals(await readMailContent(db, mail as never))).toBe(true);
  });

  test('leaves parts that are deleted a day later, and no mail', async () => {
    const { db } = await aStore();
    await deliverMail(db, { bytes: randomBytes(2 * PART_BYTES) });
    // By the clock of the process that received them, which may be wrong.
    const lost = [-25, -23, 23, 25].map((hours) => toFirstId(Date.now() + hours * 3_600_000));
    const content = randomBytes(9);
    const parts = lost.map((mail_id) => ({ mail_id, part: 0, content }));
    await db.write((tx) => tx.insertInto('inbox_part').values(parts).execute());
    expect((await claimMails(db, WANTED)).mails).toHaveLength(1);
    await tidyInbox(db);
    const left = await db.selectFrom('inbox_part').select('mail_id').distinct().execute();
    const [mail] = await listMailRows(db);
    expect(left.map(({ mail_id }) => mail_id).sort()).toEqual([lost[1], mail?.id, lost[2]]);
  });
});

describe('a door', () => {
  test('finds the account of an address, and its own checkpoint', async () => {
    const { db } = await aStore();
    const accountId = await aBareAccount(db);
    const token = await findMailToken(db, accountId);
    expect(await findAccountByToken(db, token)).toBe(accountId);
    expect(await findAccountByToken(db, token.toUpperCase())).toBeUndefined();
    expect(await findAccountByToken(db, 'a'.repeat(100_000))).toBeUndefined();
    expect(await findAccountByToken(db, await updateMailToken(db, accountId))).toBe(accountId);
    expect(await findAccountByToken(db, token)).toBeUndefined();

    expect(await findCheckpoint(db, 'imap')).toBeUndefined();
    await updateCheckpoint(db, 'imap', '{"uid":1}');
    await noteDoor(db, 'imap', 'no network');
    await updateCheckpoint(db, 'imap', '{"uid":2}');
    expect(await findCheckpoint(db, 'imap')).toBe('{"uid":2}');
    await expect(updateCheckpoint(db, 'imap', 'x'.repeat(4_001))).rejects.toMatchObject({
      code: 'limit_reached',
    });
  });

  test('a fault that the full database does not take is known in the process that met it, until it does', async () => {
    const { db } = await aStore();
    let isFull = false;
    const filling: Db = {
      ...db,
      write: async (change) => {
        if (isFull) throw new Failure('unavailable', 'the disk is full.');
        return await db.write(change);
      },
    };
    const listFaults = async () => (await listDoors(filling)).map(({ fault }) => fault);
    for (const door of ['folder:/srv/drop', 'smtp'] as const) await noteDoor(filling, door);
    isFull = true;
    await expect(noteDoor(filling, 'smtp', 'no mail is stored')).rejects.toThrow('disk is full');
    expect(await listFaults()).toEqual([null, 'no mail is stored']);
    // The path of a folder is for operators.
    expect(Object.fromEntries(await readFailing(filling))).toEqual({ folder: false, smtp: true });
    isFull = false;
    await noteDoor(filling, 'smtp');
    expect(await listFaults()).toEqual([null, null]);
  });

  test('notes the same error once a minute, and another one at once', async () => {
    const { db } = await aStore();
    let writes = 0;
    const counting: Db = {
      ...db,
      write: (change) => {
        writes += 1;
        return db.write(change);
      },
    };
    for (let i = 0; i < 5; i += 1) await noteDoor(counting, 'smtp', 'x'.repeat(10_000));
    expect(writes).toBe(1);
    await noteDoor(counting, 'smtp', 'another');
    await noteDoor(counting, 'smtp');
    await noteDoor(counting, 'smtp');
    expect(writes).toBe(3);
    const rows = await db.selectFrom('door_state').select('last_error').execute();
    expect(rows).toEqual([{ last_error: null }]);
  });
});
