import { expect, test } from 'vitest';
import { toReceived } from '../../scripts/receive.ts';
import { toPolicyTags } from '../../src/domain/dns/dns-record.ts';
import { insertReceived } from '../../src/store/documents/documents.ts';
import { aBareAccount, aDomain, aReport, NOW, receive } from '../support/builders.ts';
import { aStore } from '../support/store.ts';

test('a day has the policy that its last report stated, unless its mail was not authenticated', async () => {
  const { db } = await aStore();
  await aDomain(db, await aBareAccount(db), { name: 'example.com' });
  const policies = async () => {
    const rows = await db.selectFrom('domain_day').select('policy').orderBy('day').execute();
    return rows.map(({ policy }) => policy);
  };
  await receive(db, [aReport({ policy: { p: 'none' } })]);
  expect(await policies()).toEqual(['p=none']);
  await receive(db, [aReport({ policy: { p: 'QUARANTINE', sp: 'none', pct: 20 } })]);
  expect(await policies()).toEqual(['p=quarantine; sp=none; pct=20']);
  await receive(db, [aReport({ policy: { p: null } })]);
  expect(await policies()).toEqual(['p=quarantine; sp=none; pct=20']);
  const content = aReport({ policy: { p: 'reject' } });
  const input = { name: 'mail', bytes: Buffer.from('mail'), documents: [{ member: [], content }] };
  const mails = toReceived(input).map((document) => ({ ...document, authenticated: '' }));
  expect(await insertReceived(db, mails, NOW)).toEqual(['stored']);
  expect(await policies()).toEqual(['p=quarantine; sp=none; pct=20']);
});

test.each([
  [{ p: 'block', sp: 'none' }, null],
  [{ p: 'reject', testing: 'y', pct: 100 }, 'p=reject; t=y'],
  [{ p: 'reject', sp: 'x'.repeat(500), pct: -5 }, 'p=reject'],
])('%j', (stated, wanted) => {
  const policy = { sp: null, pct: null, testing: null, ...stated };
  expect(toPolicyTags(policy)).toBe(wanted);
});
