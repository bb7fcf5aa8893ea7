import { describe, expect, onTestFinished, test } from 'vitest';
import { readMarks, updateMark } from '../../src/store/days/marks.ts';
import { listAudit } from '../../src/store/events/audit.ts';
import { aBareAccount, aDomain, NOW } from '../support/builders.ts';
import { openTestStore } from '../support/store.ts';

async function aMarkedDomain() {
  const store = await openTestStore();
  onTestFinished(() => store.close());
  const { db, reader } = store;
  const accountId = await aBareAccount(db);
  const { id: domainId } = await aDomain(db, accountId, { name: 'example.com' });
  const by = { name: 'you@example.com', accountId, address: '192.0.2.8', at: NOW };
  const mark = (subject: string, one: 'legitimate' | 'unknown' | null, actor = by) =>
    updateMark(db, { domainId, subject, mark: one }, actor);
  const marks = async () => Object.fromEntries(await readMarks(reader, domainId));
  const audit = async () =>
    (await listAudit(db, accountId, { limit: 50, kind: 'source' }))
      .map(({ actor, subject, detail, at, address }) => [actor, subject, detail, at, address])
      .reverse();
  return { store, domainId, by, mark, marks, audit };
}

describe('marks of sources', () => {
  test('say who set them and when, and each change is in the audit', async () => {
    const { mark, marks, audit, by } = await aMarkedDomain();
    await mark('192.0.2.1', 'legitimate');
    await mark('2001:db8::1', 'unknown');
    const later = { ...by, name: 'other@example.com', at: '2026-04-01T00:00:00Z' };
    await mark('192.0.2.1', 'unknown', later);
    expect(await marks()).toEqual({
      '192.0.2.1': { mark: 'unknown', markedAt: later.at, markedBy: later.name },
      '2001:db8::1': { mark: 'unknown', markedAt: NOW, markedBy: by.name },
    });
    await mark('192.0.2.1', null);
    expect(Object.keys(await marks())).toEqual(['2001:db8::1']);
    expect(await audit()).toEqual([
      [by.name, '192.0.2.1', 'legitimate, example.com', NOW, '192.0.2.8'],
      [by.name, '2001:db8::1', 'unknown, example.com', NOW, '192.0.2.8'],
      [later.name, '192.0.2.1', 'unknown, example.com', later.at, '192.0.2.8'],
      [by.name, '192.0.2.1', 'no mark, example.com', NOW, '192.0.2.8'],
    ]);
  });

  test('hold for senders by their keys, too', async () => {
    const { mark, marks, audit } = await aMarkedDomain();
    const senders = ['domain list.example.net', 'network AS64500', 'scattered', 'service SendGrid'];
    for (const sender of senders) await mark(sender, 'unknown');
    await mark('scattered', 'legitimate');
    expect(Object.entries(await marks()).map(([subject, { mark: one }]) => [subject, one])).toEqual(
      [
        ['domain list.example.net', 'unknown'],
        ['network AS64500', 'unknown'],
        ['scattered', 'legitimate'],
        ['service SendGrid', 'unknown'],
      ],
    );
    expect((await audit()).map(([, subject]) => subject)).toEqual([...senders, 'scattered']);
  });

  test('that change nothing leave no trace', async () => {
    const { by, mark, marks, audit } = await aMarkedDomain();
    await mark('192.0.2.1', null);
    await mark('192.0.2.1', 'legitimate');
    await mark('192.0.2.1', 'legitimate', { ...by, name: 'other@example.com' });
    expect((await marks())['192.0.2.1']?.markedBy).toBe('you@example.com');
    expect(await audit()).toHaveLength(1);
  });

  test('are those of one account: another one’s domain is not found', async () => {
    const { store, mark, marks, by } = await aMarkedDomain();
    const stranger = { ...by, accountId: await aBareAccount(store.db) };
    await expect(mark('192.0.2.1', 'unknown', stranger)).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await marks()).toEqual({});
  });

  test('are a thousand at most in a domain, also when several are set at once', async () => {
    const { store, domainId, mark, marks } = await aMarkedDomain();
    const rows = Array.from({ length: 998 }, (_, i) => ({
      ...{ domain_id: domainId, subject: `198.51.${i >> 8}.${i & 255}` },
      ...{ mark: 'unknown' as const, marked_at: NOW, marked_by: 'you@example.com' },
    }));
    await store.db.write(async (tx) => {
      await tx.insertInto('source_mark').values(rows).execute();
    });
    const many = Array.from({ length: 6 }, (_, i) => mark(`192.0.2.${i}`, 'legitimate'));
    const results = await Promise.allSettled(many);
    const refused = results.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(4);
    expect(refused[0]).toMatchObject({ reason: { code: 'limit_reached' } });
    expect(Object.keys(await marks())).toHaveLength(1_000);
    await mark('198.51.0.1', 'legitimate');
    await mark('198.51.0.2', null);
    await mark('192.0.2.99', 'legitimate');
  });
});
