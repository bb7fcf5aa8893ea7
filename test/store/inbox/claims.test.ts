import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { toInstant } from '../../../src/domain/instant.ts';
import type { Db } from '../../../src/store/engine/database.ts';
import {
  claimMails,
  endClaimsOfGone,
  MAX_TRIES,
  releaseMails,
  renewClaims,
} from '../../../src/store/inbox/claims.ts';
import { toFirstId } from '../../../src/store/inbox/parts.ts';
import { failMails, finishMails } from '../../../src/store/inbox/results.ts';
import { tidyInbox } from '../../../src/store/inbox/tidy.ts';
import { nameHolder } from '../../../src/store/work/holder.ts';
import { deliverMail, listMailRows, makeDue } from '../../support/inbox.ts';
import { aStore, IS_POSTGRES } from '../../support/store.ts';

const MINUTE_MS = 60_000;
const claimAs = async (
  db: Db,
  id: string,
  { mails = 10, bytes = 1_000_000, claimMs = 60_000 } = {},
) => (await claimMails(db, { holder: { id, claimMs }, mails, bytes })).mails;
const holder = (id: string) => ({ id, claimMs: 60_000 });

async function deliverMany(db: Db, count: number, size = 10): Promise<void> {
  for (let i = 0; i < count; i += 1) await deliverMail(db, { bytes: Buffer.alloc(size, i) });
}

const toDone = (mail: Awaited<ReturnType<typeof claimAs>>[number], keepsBytes = false) => ({
  mail,
  result: 'processed' as const,
  counts: { stored: 1 },
  reason: null,
  keepsBytes,
});

describe('a claim', () => {
  test('is for a bounded number of mails and bytes, the oldest first', async () => {
    const { db } = await aStore();
    await deliverMany(db, 5, 400);
    expect((await claimAs(db, 'a', { mails: 2 })).map(({ seq }) => seq)).toEqual([1, 2]);
    expect((await claimAs(db, 'a', { bytes: 900 })).map(({ seq }) => seq)).toEqual([3, 4]);
    // One mail that is larger than the bound is claimed by itself.
    expect((await claimAs(db, 'a', { bytes: 100 })).map(({ seq }) => seq)).toEqual([5]);
    expect(await claimAs(db, 'a')).toEqual([]);
  });

  test('is one worker’s when several claim at the same time', async () => {
    const { db } = await aStore();
    await deliverMany(db, 40);
    const claimAll = async (id: string) => {
      const claimed = [];
      for (let some = await claimAs(db, id, { mails: 3 }); some.length > 0; ) {
        claimed.push(...some);
        some = await claimAs(db, id, { mails: 3 });
      }
      return claimed;
    };
    const claims = await Promise.all(Array.from({ length: 20 }, (_, i) => claimAll(`${i}`)));
    const seqs = claims.flat().map(({ seq }) => seq);
    expect(seqs.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
  });

  test('ends by itself, and the mail is then another worker’s', async () => {
    const { db } = await aStore();
    await deliverMany(db, 1);
    const [first] = await claimAs(db, 'killed');
    expect(await claimAs(db, 'b')).toEqual([]);
    await makeDue(db);
    expect(await claimAs(db, 'b')).toHaveLength(1);
    // The former holder was only asleep: it changes nothing any more.
    await renewClaims(db, holder('killed'), [1]);
    await releaseMails(db, holder('killed'), { mails: [first as never] });
    expect(await finishMails(db, holder('killed'), [toDone(first as never)])).toBe(0);
    expect(await listMailRows(db)).toMatchObject([{ state: 'waiting', claimed_by: 'b', tries: 2 }]);
  });

  test.runIf(process.platform === 'linux')(
    'kept the mails of a killed process for two minutes: it ends at once, and no other does',
    async () => {
      const { db } = await aStore();
      await deliverMany(db, 6);
      const child = spawn('sleep', ['600'], { stdio: 'ignore' });
      await once(child, 'spawn');
      const [killed, other] = [nameHolder(child.pid), nameHolder()];
      await claimAs(db, killed, { mails: 3 });
      await claimAs(db, other, { mails: 2 });
      await claimAs(db, 'of-another-machine', { mails: 1 });
      await endClaimsOfGone(db);
      expect(await claimAs(db, 'b')).toEqual([]);
      child.kill('SIGKILL');
      await once(child, 'exit');
      await endClaimsOfGone(db);
      // One of them may have ended its process, so the half is claimed together.
      expect((await claimAs(db, 'b')).map(({ seq }) => seq)).toEqual([1, 2]);
      expect((await claimAs(db, 'b')).map(({ seq }) => seq)).toEqual([3]);
      expect(await claimAs(db, 'b')).toEqual([]);
    },
  );

  test('that is renewed does not end', async () => {
    const { db } = await aStore();
    await deliverMany(db, 1);
    await claimAs(db, 'a');
    await makeDue(db);
    await renewClaims(db, holder('a'), [1]);
    expect(await claimAs(db, 'b')).toEqual([]);
  });

  test('that is given back costs no try', async () => {
    const { db } = await aStore();
    await deliverMany(db, 2);
    await releaseMails(db, holder('a'), { mails: await claimAs(db, 'a') });
    const again = await claimAs(db, 'b');
    expect(again.map(({ tries }) => tries)).toEqual([1, 1]);
  });

  test('changes no column that an index has: PostgreSQL would write into every index', async () => {
    const { db } = await aStore();
    const indexes = IS_POSTGRES
      ? sql`select indexdef as text from pg_indexes where tablename = 'inbox_mail'`
      : sql`select sql as text from sqlite_master where type = 'index' and tbl_name = 'inbox_mail'`;
    const { rows } = await db.write((tx) => indexes.execute(tx));
    const texts = JSON.stringify(rows);
    expect(texts).toContain('done_at');
    expect(texts).not.toMatch(/due_at|claimed_by|tries/);
  });

  test('of mails that a kill interrupted is for the half of them, and costs no try', async () => {
    const { db } = await aStore();
    await deliverMany(db, 7);
    await claimAs(db, 'killed');
    await makeDue(db);
    await deliverMany(db, 2);
    const claimed: number[][] = [];
    for (const id of ['b', 'c', 'd', 'e', 'f']) {
      const mails = await claimAs(db, id);
      claimed.push(mails.map(({ seq }) => seq));
      const isFresh = mails.some(({ seq }) => seq > 7);
      expect(mails.every(({ isAgain, tries }) => isAgain !== isFresh && tries < 3)).toBe(true);
    }
    expect(claimed).toEqual([[1, 2, 3, 4], [5, 6], [7], [8, 9], []]);
  });

  test('says whether all that waited were claimed: only then a worker waits for others', async () => {
    const { db } = await aStore();
    await deliverMany(db, 5);
    const claim = async (id: string, mails: number) =>
      (await claimMails(db, { holder: holder(id), mails, bytes: 1_000_000 })).isAll;
    expect(await claim('killed', 3)).toBe(false);
    expect(await claim('b', 3)).toBe(true);
    await makeDue(db);
    expect([await claim('c', 9), await claim('c', 9)]).toEqual([false, false]);
    expect([await claim('d', 9), await claim('e', 9)]).toEqual([false, true]);
  });

  test('of mails that ends its worker each time is soon for the one that does, which alone is stuck', async () => {
    const { db } = await aStore();
    await deliverMany(db, 200);
    const hostile = 77;
    for (let i = 0; (await listMailRows(db)).some(({ state }) => state === 'waiting'); i += 1) {
      const mails = await claimAs(db, `worker ${i}`, { mails: 200 });
      const isKilled = mails.some(({ seq }) => seq === hostile);
      if (isKilled) await makeDue(db);
      else
        await finishMails(
          db,
          holder(`worker ${i}`),
          mails.map((mail) => toDone(mail)),
        );
      expect(i).toBeLessThan(60);
    }
    const rows = await listMailRows(db);
    expect(rows.filter(({ state }) => state === 'stuck').map(({ seq }) => seq)).toEqual([hostile]);
  });
});

describe('a mail that cannot be read because of a fault of our own', () => {
  test('is tried again later each time, and is stuck after ten tries', async () => {
    const { db } = await aStore();
    await deliverMany(db, 1);
    const pauses: number[] = [];
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const mails = await claimAs(db, 'a');
      expect(mails).toMatchObject([{ tries }]);
      const startedAt = Date.now();
      await failMails(db, holder('a'), { mails, error: 'disk full' });
      expect(await claimAs(db, 'a')).toEqual([]);
      const [row] = await listMailRows(db);
      expect(row).toMatchObject({ last_error: 'disk full', claimed_by: null });
      if (row?.due_at != null) pauses.push((Date.parse(row.due_at) - startedAt) / MINUTE_MS);
      await makeDue(db);
    }
    const wanted = [1, 4, 16, 64, 256, 360, 360, 360, 360];
    expect(pauses).toHaveLength(wanted.length);
    for (const [i, minutes] of wanted.entries()) {
      expect(pauses[i]).toBeGreaterThan(minutes * 0.8 - 0.1);
      expect(pauses[i]).toBeLessThan(minutes * 1.2 + 0.1);
    }
    expect(await listMailRows(db)).toMatchObject([{ state: 'stuck', due_at: null, tries: 10 }]);
    expect(await claimAs(db, 'a')).toEqual([]);
  });

  test('is stuck too when each of ten workers ends without a word', async () => {
    const { db } = await aStore();
    await deliverMany(db, 1);
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      expect(await claimAs(db, `${tries}`)).toHaveLength(1);
      await makeDue(db);
    }
    expect(await claimAs(db, 'last')).toEqual([]);
    expect(await listMailRows(db)).toMatchObject([
      { state: 'stuck', last_error: 'The process that read it ended.' },
    ]);
  });
});

describe('a mail that is done', () => {
  test('has no bytes in the inbox any more, unless nothing else has them', async () => {
    const { db } = await aStore();
    await deliverMany(db, 2);
    await deliverMail(db, { bytes: Buffer.alloc(3_000_000) });
    const small = await claimAs(db, 'a', { mails: 2 });
    const [large] = await claimAs(db, 'a', { bytes: 10_000_000 });
    await finishMails(db, holder('a'), [
      toDone(small[0] as never, true),
      toDone(small[1] as never),
      toDone(large as never),
    ]);
    const parts = await db.selectFrom('inbox_part').select('mail_id').execute();
    expect(parts).toEqual([{ mail_id: small[0]?.id }]);
    expect(await listMailRows(db)).toMatchObject([1, 2, 3].map(() => ({ state: 'done' })));
  });

  test('has a row for ninety days', async () => {
    const { db } = await aStore();
    await deliverMany(db, 3);
    const mails = await claimAs(db, 'a');
    await finishMails(
      db,
      holder('a'),
      mails.slice(0, 2).map((mail) => toDone(mail, true)),
    );
    await db.write(async (tx) => {
      for (const [i, count] of [92, 89].entries()) {
        const doneMs = Date.now() - count * 86_400_000;
        const [id, mail_id] = [toFirstId(doneMs), mails[i]?.id ?? ''];
        await tx
          .updateTable('inbox_mail')
          .set({ id, done_at: toInstant(new Date(doneMs)) })
          .where('seq', '=', i + 1)
          .execute();
        await tx
          .updateTable('inbox_part')
          .set({ mail_id: id })
          .where('mail_id', '=', mail_id)
          .execute();
      }
    });
    await tidyInbox(db);
    expect((await listMailRows(db)).map(({ seq }) => seq)).toEqual([2, 3]);
    expect(await db.selectFrom('inbox_part').select('part').execute()).toHaveLength(2);
  });

  test('leave rows up to a number, the oldest going first', async () => {
    const { db } = await aStore();
    await deliverMany(db, 4);
    for (const seq of [1, 2, 3])
      await db.write((tx) =>
        tx
          .updateTable('inbox_mail')
          .set({ state: 'done', due_at: null, done_at: `2999-01-0${seq}T00:00:00Z` })
          .where('seq', '=', seq)
          .execute(),
      );
    await tidyInbox(db, { keptRows: 1 });
    expect((await listMailRows(db)).map(({ seq }) => seq)).toEqual([2, 3, 4]);
  });

  test('and others wait no longer when the database’s clock is set back', async () => {
    const { db } = await aStore();
    await deliverMany(db, 1);
    await db.write((tx) =>
      tx.updateTable('inbox_mail').set({ due_at: '2999-01-01T00:00:00Z' }).execute(),
    );
    expect(await claimAs(db, 'a')).toEqual([]);
    await tidyInbox(db);
    expect(await claimAs(db, 'a')).toHaveLength(1);
  });
});
