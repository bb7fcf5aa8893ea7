import { beforeAll, expect, test } from 'vitest';
import { findDomain } from '../../src/store/domains/overview.ts';
import { listAudit } from '../../src/store/events/audit.ts';
import { type Api, startApi } from '../support/api.ts';
import { aBareAccount, aDomain, aReport, receive } from '../support/builders.ts';
import { aVisitor, toReadable } from '../support/visitor.ts';

let api: Api;

beforeAll(async () => {
  api = await startApi();
  return api.close;
});

async function aDomainPage() {
  const accountId = await aBareAccount(api.db);
  const { browser } = await aVisitor(api, accountId);
  const { id, name } = await aDomain(api.db, accountId);
  const path = `/settings/domains/${id}`;
  const say = (value: string) => browser.post(`${path}/sends-no-mail`, { sends_no_mail: value });
  const read = async () => toReadable((await browser.get(path)).text);
  const stored = async () =>
    (await findDomain(api.store.reader, { accountId, domainId: id })).sends_no_mail;
  const audit = async () =>
    (await listAudit(api.db, accountId, { limit: 9, kind: 'domain' }))
      .filter(({ action }) => action.includes('_mail') || action.includes('sends'))
      .map(({ action, subject }) => [action, subject])
      .reverse();
  return { name, path, browser, say, read, stored, audit };
}

test('a domain sends no mail by the word of a person, which is told, audited, and taken back in one click', async () => {
  const { name, path, browser, say, read, stored, audit } = await aDomainPage();
  expect(await read()).toContain('Does this domain send no mail?');
  const { status, headers } = await say('yes');
  expect([status, headers['location'], await stored()]).toEqual([303, path, 1]);
  const { text } = await browser.get(path);
  expect(toReadable(text)).toContain('You have said that this domain sends no mail.');
  expect(toReadable(text)).toMatch(
    /This domain sends no mail Whatever .*, and when\. It sends mail/,
  );
  expect(text).toContain('name="sends_no_mail" value="no"');
  await say('yes');
  await say('no');
  expect(await stored()).toBe(0);
  expect(await audit()).toEqual([
    ['domain_sends_no_mail', name],
    ['domain_sends_mail', name],
  ]);
});

test('nothing but yes and no is taken, and nobody of another account says it', async () => {
  const { path, say, read, stored } = await aDomainPage();
  await read();
  for (const value of ['', '1', 'Yes']) expect((await say(value)).status).toBe(422);
  const { browser: other } = await aVisitor(api, await aBareAccount(api.db));
  const form = { sends_no_mail: 'yes' };
  expect((await other.post(`${path}/sends-no-mail`, form)).status).toBe(404);
  expect(await stored()).toBe(0);
});

test('it is proposed where a whole month has reports and no mail passed', async () => {
  const { name, read } = await aDomainPage();
  const forged = (begin: string, alignedMessages = 0) =>
    receive(api.db, [aReport({ domain: name, begin, totalMessages: 9, alignedMessages })]);
  const proposed = 'No mail of this domain passed for 30 days. If it sends no mail, say so';
  await forged('2026-03-14T00:00:00Z');
  expect(await read()).not.toContain(proposed);
  await forged('2026-02-13T00:00:00Z');
  expect(await read()).toContain(proposed);
  await forged('2026-03-01T00:00:00Z', 1);
  expect(await read()).not.toContain(proposed);
});
