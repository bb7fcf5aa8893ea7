import { describe, expect, test } from 'vitest';
import { later } from '../../src/domain/instant.ts';
import { listAllDomains } from '../../src/store/domains/domains.ts';
import {
  acceptProposal,
  claimOrPropose,
  ignoreProposal,
  listProposals,
} from '../../src/store/domains/proposals.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { listAudit } from '../../src/store/events/audit.ts';
import { aBareAccount, aDomain, NOW } from '../support/builders.ts';
import { aStore } from '../support/store.ts';

const by = { name: 'operator', address: null, at: NOW };
const DAY_MS = 86_400_000;

async function anAddress() {
  const { db } = await aStore();
  const accountId = await aBareAccount(db);
  const of = readerOf(db, accountId);
  const claim = (name: string, now = NOW) => claimOrPropose(db, { accountId, name, now });
  return { db, accountId, claim, ...of };
}

const readerOf = (db: Store['db'], accountId: string) => ({
  open: async () =>
    (await listProposals(db, accountId)).flatMap(({ name, ignoredAt }) =>
      ignoredAt === null ? [name] : [],
    ),
  domains: async () => (await listAllDomains(db, accountId)).map(({ name }) => name),
  audit: async () =>
    (await listAudit(db, accountId, { limit: 50, kind: 'domain' })).map(({ action, subject }) => [
      action,
      subject,
    ]),
});

describe('a domain whose record names an account’s address', () => {
  test('is proposed, one of an organisation, and added by who decides', async () => {
    const { db, accountId, claim, open, domains, audit } = await anAddress();
    for (const name of ['a.example.com', 'b.example.com', 'example.com', 'example.org'])
      expect(await claim(name)).toBe(false);
    expect(await open()).toEqual(['a.example.com', 'example.org']);
    expect([await domains(), await audit()]).toEqual([[], []]);
    await acceptProposal(db, { accountId, name: 'a.example.com' }, by);
    expect(await open()).toEqual(['example.org']);
    expect(await claim('b.example.com')).toBe(true);
    expect(await domains()).toEqual(['a.example.com', 'b.example.com']);
    expect(await audit()).toEqual([
      ['domain_claimed', 'b.example.com'],
      ['domain_added', 'a.example.com'],
    ]);
  });

  test('of a suffix where strangers get names is one of another organisation', async () => {
    const { db, accountId, claim, open } = await anAddress();
    await aDomain(db, accountId, { name: 'mine.github.io' });
    expect(await claim('www.mine.github.io')).toBe(true);
    for (const name of ['evil.github.io', 'github.io']) expect(await claim(name)).toBe(false);
    expect(await open()).toEqual(['evil.github.io', 'github.io']);
  });

  test('is added by itself a hundred times, whatever a wildcard of the account’s own says', async () => {
    const { db, accountId, claim, open, domains } = await anAddress();
    await aDomain(db, accountId, { name: 'example.com' });
    for (let i = 0; i < 103; i++) await claim(`m${i}.example.com`);
    expect(await domains()).toHaveLength(100);
    expect(await open()).toEqual(['m99.example.com']);
  });

  test('is proposed ten times a day, and of fifty that are open the oldest goes', async () => {
    const { claim, open } = await anAddress();
    for (let day = 0; day < 6; day++)
      for (let i = 0; i < 20; i++) await claim(`d${day}-${i}.example`, later(NOW, day * DAY_MS));
    const names = await open();
    expect(names).toHaveLength(50);
    expect(names.filter((name) => name.startsWith('d5-'))).toHaveLength(10);
    expect(names.filter((name) => name.startsWith('d0-'))).toEqual([]);
  });

  test('is proposed ten times a day when several processes read mails', async () => {
    const { claim, open } = await anAddress();
    await Promise.all(Array.from({ length: 20 }, (_, i) => claim(`p${i}.example`)));
    expect(await open()).toHaveLength(10);
  });

  test('is not proposed again when it was ignored, nor is another of its organisation', async () => {
    const { db, accountId, claim, open, domains, audit } = await anAddress();
    await claim('a.evil.example');
    await ignoreProposal(db, { accountId, name: 'a.evil.example' }, by);
    for (const name of ['a.evil.example', 'b.evil.example']) await claim(name);
    expect([await open(), await domains()]).toEqual([[], []]);
    expect(await audit()).toEqual([['domain_ignored', 'a.evil.example']]);
    const again = ignoreProposal(db, { accountId, name: 'a.evil.example' }, by);
    await expect(again).rejects.toMatchObject({ code: 'not_found' });
  });

  test('of a thousand that were ignored, the oldest is forgotten', async () => {
    const { db, accountId, claim, open } = await anAddress();
    const rows = Array.from({ length: 1_000 }, (_, i) => ({
      ...{ account_id: accountId, name: `i${i}.example`, organizational_domain: `i${i}.example` },
      ...{
        proposed_at: '2026-01-01T00:00:00Z',
        ignored_at: later('2026-01-01T00:00:00Z', i * 1_000),
      },
    }));
    await db.write((tx) => tx.insertInto('domain_proposal').values(rows).execute());
    await claim('new.example');
    await ignoreProposal(db, { accountId, name: 'new.example' }, by);
    expect(await listProposals(db, accountId)).toHaveLength(1_000);
    for (const name of ['i0.example', 'i1.example']) await claim(name);
    expect(await open()).toEqual(['i0.example']);
  });

  test('is proposed to all accounts that the record names, and belongs to the first that adds it', async () => {
    const { db, accountId, claim, open } = await anAddress();
    const other = await aBareAccount(db);
    await claim('example.com');
    await claimOrPropose(db, { accountId: other, name: 'example.com', now: NOW });
    await aDomain(db, other, { name: 'example.com' });
    expect(await open()).toEqual([]);
    const late = acceptProposal(db, { accountId, name: 'example.com' }, by);
    await expect(late).rejects.toMatchObject({ code: 'not_found' });
  });

  test('that was removed comes back only when somebody adds it', async () => {
    const { db, accountId, claim, domains, open } = await anAddress();
    await aDomain(db, accountId, { name: 'example.com' });
    const { id } = await aDomain(db, accountId, { name: 'old.example.com' });
    await removeDomain(db, id, { by });
    expect(await claim('old.example.com')).toBe(false);
    expect(await claim('new.example.com')).toBe(true);
    expect([await domains(), await open()]).toEqual([['example.com', 'new.example.com'], []]);
    expect((await aDomain(db, accountId, { name: 'old.example.com' })).id).toBe(id);
    await removeDomain(db, id, { by });
  });
});
