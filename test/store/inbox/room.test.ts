import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Db } from '../../../src/store/engine/database.ts';
import { createRoom, trimKept } from '../../../src/store/inbox/room.ts';
import { NOW } from '../../support/builders.ts';
import { deliverMail } from '../../support/inbox.ts';
import { aStore } from '../../support/store.ts';

const MIB = 1024 * 1024;

async function deliverSizes(db: Db, sizes: readonly number[]): Promise<void> {
  for (const size of sizes) await deliverMail(db, { bytes: randomBytes(size) });
}

const finish = (db: Db, seqs: readonly number[]) =>
  db.write((tx) =>
    tx
      .updateTable('inbox_mail')
      .set({ state: 'done', result: 'ignored', due_at: null, done_at: NOW })
      .where('seq', 'in', seqs)
      .execute(),
  );

const listStored = async (db: Db) => {
  const mails = await db
    .selectFrom('inbox_mail')
    .innerJoin('inbox_part', 'inbox_part.mail_id', 'inbox_mail.id')
    .select('inbox_mail.seq')
    .distinct()
    .orderBy('inbox_mail.seq')
    .execute();
  return mails.map(({ seq }) => seq);
};

describe('the room of the inbox', () => {
  test.each([
    ['bytes', { mails: 100, bytes: 3 * MIB }],
    ['mails', { mails: 2, bytes: 100 * MIB }],
  ])('ends at a number of %s', async (_what, max) => {
    const { db } = await aStore();
    const findShortage = createRoom(db, { max, measureMs: 0 });
    expect(await findShortage()).toBeUndefined();
    await deliverSizes(db, [2 * MIB]);
    expect(await findShortage()).toBeUndefined();
    await deliverSizes(db, [2 * MIB]);
    expect(await findShortage()).toContain('full');
    await db.write((tx) => tx.deleteFrom('inbox_part').execute());
    expect(await findShortage()).toBeUndefined();
  });

  test.each([
    ['mails', { mails: 8, bytes: 100 * MIB }],
    ['bytes', { mails: 100, bytes: 8 * MIB }],
  ])(
    'is not one network’s alone: its %s were refused to all others when it had filled it',
    async (_what, max) => {
      const { db } = await aStore();
      const findShortage = createRoom(db, { max, measureMs: 0 });
      const [one, other, third] = ['203.0.113.7', '2001:db8:1::7', '198.51.100.1'] as const;
      const fill = async (address: string) => {
        let mails = 0;
        for (; (await findShortage(address)) === undefined; mails += 1)
          await deliverMail(db, {
            bytes: randomBytes(MIB),
            envelope: { remoteAddress: address },
          });
        return mails;
      };
      // Half of what is free each time.
      expect([await fill(one), await fill(other), await fill(third)]).toEqual([4, 2, 1]);
      expect(await findShortage('203.0.113.99')).toContain('203.0.113');
      expect(await findShortage('2001:db8:1:2::1')).toContain('2001:db8:1::/48');
      // One of which nothing waits, and a relay of the operator's own.
      expect([await findShortage('192.0.2.1'), await findShortage()]).toEqual([
        undefined,
        undefined,
      ]);
    },
  );

  test('is measured once for many mails', async () => {
    const { db } = await aStore();
    let reads = 0;
    const counting: Db = {
      ...db,
      selectFrom: ((...args: Parameters<Db['selectFrom']>) => {
        reads += 1;
        return db.selectFrom(...args);
      }) as Db['selectFrom'],
    };
    const findShortage = createRoom(counting, { measureMs: 60_000 });
    for (let i = 0; i < 20; i += 1) expect(await findShortage()).toBeUndefined();
    // A measurement is a query of a query.
    expect(reads).toBe(2);
  });
});

describe('bytes of mails without a report', () => {
  test.each([
    ['bytes', { mails: 100, bytes: 3 * MIB }, [3, 4, 5]],
    ['mails', { mails: 2, bytes: 100 * MIB }, [4, 5]],
  ])('are deleted, the oldest first, above a number of %s', async (_what, max, left) => {
    const { db } = await aStore();
    await deliverSizes(db, [MIB, 2 * MIB, 10, MIB, MIB, 5 * MIB]);
    await finish(db, [1, 2, 3, 4, 5]);
    await trimKept(db, { max, mayGoOn: async () => true });
    // The sixth is not read yet.
    expect(await listStored(db)).toEqual([...left, 6]);
    expect(await db.selectFrom('inbox_mail').select('seq').execute()).toHaveLength(6);
  });
});
