import { describe, expect, test } from 'vitest';
import { createClaims } from '../../src/jobs/claim-domains.ts';
import { findMailToken } from '../../src/store/accounts/mail-address.ts';
import {
  acceptProposal,
  ignoreProposal,
  listProposals,
} from '../../src/store/domains/proposals.ts';
import { operator } from '../../src/store/events/audit.ts';
import { aBareAccount, aDomain, aReport, NOW, receive } from '../support/builders.ts';
import { aStore } from '../support/store.ts';

const mailHost = 'reports.example.net';
const DAY_MS = 86_400_000;

/** Accounts whose addresses are all in the record of every domain, and a day that the test moves on. */
async function aVictim(accounts = 1) {
  const { db } = await aStore();
  const ids: string[] = [];
  for (let i = 0; i < accounts; i += 1) ids.push(await aBareAccount(db));
  const tokens = await Promise.all(ids.map((id) => findMailToken(db, id)));
  const rua = tokens.map((token) => `mailto:${token}@${mailHost}`).join(',');
  const time = { days: 0 };
  const claim = createClaims({
    ...{ db, mailHost, lookUp: async () => `v=DMARC1; p=none; rua=${rua}` },
    now: () => new Date(Date.parse(NOW) + time.days * DAY_MS),
  });
  const attack = async (names: readonly string[], id = ids[0] as string) => {
    await receive(
      db,
      names.map((domain) => aReport({ domain })),
    );
    for (let i = 0; i < names.length; i += 3)
      await claim(new Map([[id, new Set(names.slice(i, i + 3))]]));
  };
  const domains = async () => {
    const rows = await db
      .selectFrom('domain')
      .select('name')
      .where('account_id', 'is not', null)
      .execute();
    return rows.map(({ name }) => name);
  };
  return { db, ids, id: ids[0] as string, time, attack, domains };
}

const many = (count: number, toName: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => toName(i));

describe('names whose records name an account’s address', () => {
  test.each<[string, string[], number]>([
    ['600 below a wildcard', many(600, (i) => `n${i}.evil.test`), 1],
    ['60 of 60 organisations', many(60, (i) => `evil${i}.test`), 10],
    ['60 below a private suffix', many(60, (i) => `n${i}.github.io`), 10],
    ['60 with A-labels', many(60, (i) => `xn--n${i}.evil.test`), 1],
    ['100 labels deep', many(6, (i) => `${'a.'.repeat(100)}n${i}.evil.test`), 1],
    ['public suffixes', ['com', 'co.uk', 'github.io'], 3],
  ])('%s add no domain, and are few proposals', async (_what, names, proposed) => {
    const { db, id, attack, domains } = await aVictim();
    await attack(names);
    expect(await domains()).toEqual([]);
    expect(await listProposals(db, id)).toHaveLength(proposed);
  });

  test('for 60 days are fifty proposals', async () => {
    const { db, id, time, attack } = await aVictim();
    for (; time.days < 60; time.days += 2) await attack(many(3, (i) => `d${time.days}-${i}.test`));
    expect(await listProposals(db, id)).toHaveLength(50);
  });

  test('of an organisation that was ignored are not proposed again', async () => {
    const { db, id, time, attack } = await aVictim();
    await attack(['a.evil.test']);
    await ignoreProposal(db, { accountId: id, name: 'a.evil.test' });
    time.days = 30;
    await attack(['a.evil.test', 'b.evil.test', 'evil.test']);
    expect((await listProposals(db, id)).map(({ name }) => name)).toEqual(['a.evil.test']);
  });

  test('of the account’s own organisation become its domains up to a hundred', async () => {
    const { db, id, attack, domains } = await aVictim();
    await aDomain(db, id, { name: 'own.example' });
    await attack(many(130, (i) => `n${i}.own.example`));
    expect(await domains()).toHaveLength(100);
  });

  test('of many accounts are proposed to each, and belong to the first that adds them', async () => {
    const { db, ids, attack, domains } = await aVictim(5);
    for (const id of ids) await attack(['evil.test'], id);
    for (const id of ids) expect(await listProposals(db, id)).toHaveLength(1);
    await acceptProposal(db, { accountId: ids[3] as string, name: 'evil.test' }, operator(NOW));
    for (const id of ids) expect(await listProposals(db, id)).toHaveLength(0);
    expect(await domains()).toEqual(['evil.test']);
  });
});
