import { describe, expect, test } from 'vitest';
import { createClaims } from '../../src/jobs/claim-domains.ts';
import { findMailToken } from '../../src/store/accounts/mail-address.ts';
import { domainsOf } from '../../src/store/domains/domains.ts';
import { listProposals } from '../../src/store/domains/proposals.ts';
import { findHead } from '../../src/store/lists/page.ts';
import { aBareAccount, aDomain, aReport, NOW, receive } from '../support/builders.ts';
import { aReportXml, deliverMail } from '../support/inbox.ts';
import { workAll } from '../support/inbox-worker.ts';
import { base64, mail, multipart } from '../support/mail.ts';
import { aStore } from '../support/store.ts';

const mailHost = 'reports.example.net';
const now = () => new Date(NOW);

/** An account that has a domain of example.com, and what DNS says of every domain. */
async function aClaim(record: (address: string) => string | null | undefined) {
  const { db, reader } = await aStore();
  const [owner, stranger] = [await aBareAccount(db), await aBareAccount(db)];
  await aDomain(db, owner, { name: 'www.example.com' });
  const address = `${await findMailToken(db, owner)}@${mailHost}`;
  const lookUp = async () => record(address);
  await receive(db, [aReport({ domain: 'example.com' })]);
  const given = { db, now, mailHost };
  const claim = createClaims({ ...given, lookUp });
  const claims = async (id: string, some: ReadonlySet<string>) =>
    (await claim(new Map([[id, some]]))).map(({ name }) => name);
  return { ...given, reader, owner, stranger, address, claim, claims };
}

describe('a report about a domain that no account has, by an account’s own address', () => {
  const names = new Set(['example.com', 'unheard.example']);

  test('makes it the account’s when its DMARC record names this address and the account has its organisation', async () => {
    const { db, owner, stranger, claims } = await aClaim((to) => `v=DMARC1; rua=mailto:${to}`);
    // A forged report by the address of another account gives that account nothing.
    expect(await claims(stranger, names)).toEqual([]);
    expect(await claims(owner, names)).toEqual(['example.com']);
    expect(await claims(owner, names)).toEqual([]);
    const domains = db.selectFrom('domain').select('name').where('account_id', '=', owner);
    expect((await domains.orderBy('name').execute()).map(({ name }) => name)).toEqual([
      'example.com',
      'www.example.com',
    ]);
  });

  test('proposes it when the account has nothing of its organisation', async () => {
    const { db, owner, claims } = await aClaim((to) => `v=DMARC1; rua=mailto:${to}`);
    await receive(db, [aReport({ domain: 'example.org' })]);
    expect(await claims(owner, new Set(['example.org']))).toEqual([]);
    expect(await listProposals(db, owner)).toEqual([
      { name: 'example.org', proposedAt: NOW, ignoredAt: null },
    ]);
  });

  test.each<[string, (address: string) => string | null | undefined]>([
    ['names another address', () => 'v=DMARC1; rua=mailto:dmarc@reports.example.net'],
    ['is one of several', (to) => `v=DMARC1; rua=mailto:${to}\nv=DMARC1; p=none`],
    ['is not there', () => null],
    ['could not be asked for', () => undefined],
  ])('leaves it unclaimed when the record %s', async (_what, record) => {
    const { db, owner, claims } = await aClaim(record);
    await receive(db, [aReport({ domain: 'example.org' })]);
    expect(await claims(owner, new Set(['example.com', 'example.org']))).toEqual([]);
    expect(await listProposals(db, owner)).toEqual([]);
  });

  test('makes it the account’s when the record could be asked for the second time', async () => {
    const answers: (string | undefined)[] = [undefined];
    const { owner, address, claims } = await aClaim(() => answers.shift());
    expect(await claims(owner, names)).toEqual([]);
    answers.push(`v=DMARC1; rua=mailto:${address}`);
    expect(await claims(owner, names)).toEqual(['example.com']);
  });

  test('does not wait for name servers that are silent, whatever others there are', async () => {
    const { owner, stranger, address, ...given } = await aClaim(() => null);
    await receive(given.db, [aReport({ domain: 'silent.example' })]);
    const lookUp = async (_type: string, name: string) =>
      name === 'example.com'
        ? `v=DMARC1; rua=mailto:${address}`
        : await new Promise<undefined>(() => {});
    const claim = createClaims({ ...given, lookUp, lookUpMs: 100 });
    const claimed = await claim(
      new Map([
        [stranger, new Set(['silent.example'])],
        [owner, names],
      ]),
    );
    expect(claimed).toEqual([{ accountId: owner, name: 'example.com' }]);
  });
});

test('a stranger’s wildcard record and 180 mails filled an account with 502 domains: now it is one proposal', async () => {
  const { db, reader, owner, claim } = await aClaim((to) => `v=DMARC1; rua=mailto:${to}`);
  const head = await findHead(reader, domainsOf(owner));
  for (let i = 0; i < 180; i++) {
    const parts = [1, 2, 3].map((n) => base64(aReportXml(undefined, `m${i}-${n}.evil.example`)));
    await deliverMail(db, { bytes: mail(multipart(parts)), accountId: owner });
  }
  const claimed: string[] = [];
  await workAll(db, {
    afterStored: async ({ unclaimed }) =>
      void claimed.push(...(await claim(unclaimed)).map(({ name }) => name)),
  });
  const { names } = await db
    .selectFrom('domain')
    .select((eb) => eb.fn.countAll<number>().as('names'))
    .where('name', 'like', '%.evil.example')
    .executeTakeFirstOrThrow();
  expect(names).toBe(540);
  expect(claimed).toEqual([]);
  expect(await findHead(reader, domainsOf(owner))).toEqual(head);
  expect(await listProposals(db, owner)).toHaveLength(1);
});
