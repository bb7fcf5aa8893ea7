import { randomInt } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Incoming } from '../../../src/domain/incoming.ts';
import type { Db } from '../../../src/store/engine/database.ts';
import { claimMails } from '../../../src/store/inbox/claims.ts';
import { failMails, finishMails } from '../../../src/store/inbox/results.ts';
import { aBareAccount } from '../../support/builders.ts';
import { deliverMail, makeDue } from '../../support/inbox.ts';
import { aStore } from '../../support/store.ts';

const HOLDER = { id: 'a', claimMs: 60_000 };

const from = (remoteAddress: string): Partial<Incoming> => ({
  envelope: { remoteAddress },
  bytes: Buffer.from('mail'),
});

async function deliverMany(db: Db, count: number, incoming: Partial<Incoming>): Promise<void> {
  for (let i = 0; i < count; i += 1) await deliverMail(db, incoming);
}

/** Claims so many mails, and ends them. Returns their numbers, in the order in which they are read. */
async function read(db: Db, mails: number): Promise<number[]> {
  const { mails: claimed } = await claimMails(db, { holder: HOLDER, mails, bytes: 1_000_000 });
  const done = claimed.map((mail) => ({ mail, result: 'processed' as const, counts: {} }));
  await finishMails(
    db,
    HOLDER,
    done.map((one) => ({ ...one, reason: null, keepsBytes: false })),
  );
  return claimed.map(({ seq }) => seq);
}

describe('an honest report that waited 210 s behind thirty mails of another sender', () => {
  test.each([
    ['IPv4', '203.0.113.7', '198.51.100.1'],
    ['IPv6', '2001:db8:1::7', '2001:db8:2::1'],
  ])('is read after one of them, over %s', async (_version, hostile, honest) => {
    const { db } = await aStore();
    await deliverMany(db, 30, from(hostile));
    await deliverMail(db, from(honest));
    expect(await read(db, 3)).toEqual([1, 31, 2]);
  });

  test('is read soon also when it comes while they are being read', async () => {
    const { db } = await aStore();
    await deliverMany(db, 30, from('203.0.113.7'));
    expect(await read(db, 10)).toHaveLength(10);
    await deliverMail(db, from('198.51.100.1'));
    expect(await read(db, 2)).toEqual([11, 31]);
  });

  test('is read soon when they came for another account, from the same provider', async () => {
    const { db } = await aStore();
    const [one, other] = [await aBareAccount(db), await aBareAccount(db)];
    await deliverMany(db, 30, { ...from('203.0.113.7'), accountId: one });
    await deliverMail(db, { ...from('203.0.113.7'), accountId: other });
    expect(await read(db, 2)).toEqual([1, 31]);
  });

  test('is read soon when all came through a relay of the operator’s own, or a mailbox', async () => {
    const { db } = await aStore();
    const received = (address: string): Partial<Incoming> => ({
      ...from('192.0.2.1'),
      isRelayed: true,
      bytes: Buffer.from(
        `Received: from a (a [${address}])\r\n by mx.example.com; now\r\n\r\n[192.0.2.9]`,
      ),
    });
    await deliverMany(db, 30, received('203.0.113.7'));
    await deliverMail(db, received('198.51.100.1'));
    expect(await read(db, 2)).toEqual([1, 31]);
  });
});

describe('a turn', () => {
  test('is not another’s who changes the address within a network', async () => {
    const { db } = await aStore();
    for (const last of [1, 2, 3]) await deliverMail(db, from(`203.0.113.${last}`));
    for (const last of [1, 2, 3]) await deliverMail(db, from(`2001:db8:1:${last}::1`));
    expect(await read(db, 6)).toEqual([1, 4, 2, 5, 3, 6]);
  });

  test('of a sender who was not there before does not come again and again before an old mail', async () => {
    const { db } = await aStore();
    await deliverMany(db, 10, from('203.0.113.7'));
    const done: number[] = [];
    // Each round brings as many new senders as are read.
    for (let round = 0; !done.includes(10); round += 1) {
      expect(round).toBeLessThan(100);
      for (const i of [0, 1, 2]) await deliverMail(db, from(`198.51.${round}.${i}`));
      for (const i of [3, 4]) await deliverMail(db, from(`198.${i}.${round}.1`));
      done.push(...(await read(db, 3)));
    }
  });

  test('that failed keeps nobody else from theirs', async () => {
    const { db } = await aStore();
    await deliverMail(db, from('203.0.113.7'));
    const { mails } = await claimMails(db, { holder: HOLDER, mails: 1, bytes: 1_000 });
    await failMails(db, HOLDER, { mails, error: 'disk full' });
    await deliverMany(db, 5, from('198.51.100.1'));
    expect(await read(db, 2)).toEqual([2, 3]);
    await deliverMail(db, from('192.0.2.1'));
    expect(await read(db, 10)).toEqual([4, 7, 5, 6]);
    await makeDue(db);
    expect(await read(db, 10)).toEqual([1]);
  });
});

describe('random senders', () => {
  test('lose no mail, and none waits for ever', async () => {
    const { db } = await aStore();
    const done: number[] = [];
    let delivered = 0;
    for (let step = 0; step < 40; step += 1) {
      const sender = randomInt(3) === 0 ? randomInt(250) : 1;
      const count = randomInt(6);
      await deliverMany(db, count, from(`203.0.${sender}.1`));
      delivered += count;
      done.push(...(await read(db, 1 + randomInt(3))));
    }
    for (let some = await read(db, 7); some.length > 0; some = await read(db, 7))
      done.push(...some);
    const all = Array.from({ length: delivered }, (_, i) => i + 1);
    expect(done.toSorted((a, b) => a - b)).toEqual(all);
  });
});
