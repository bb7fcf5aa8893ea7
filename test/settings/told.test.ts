import { beforeEach, describe, expect, test } from 'vitest';
import { writeDeliveries } from '../../src/store/events/events.ts';
import { updateMailServer } from '../../src/store/people/person-mail.ts';
import { type Api, serveApi } from '../support/api.ts';
import {
  aBareAccount,
  aDomain,
  anAlert,
  NOW,
  resolveAlert,
  UNKNOWN_ID,
} from '../support/builders.ts';
import { aSignedIn, type Browser, onTestDay, toReadable } from '../support/visitor.ts';

const SERVER = {
  ...{ host: '127.0.0.1', port: 25, security: 'none' as const, user: undefined },
  ...{ password: undefined, from: { name: '', address: 'plumbline@example.com' } },
};

let api: Api;
let accountId: string;
let browser: Browser;
let domainId: string;

beforeEach(async () => {
  ({ api, accountId, browser } = await onTestDay());
  ({ id: domainId } = await aDomain(api.db, accountId, { name: 'one.example' }));
});

const fire = () => anAlert(api.db, { accountId, domainId }, { firedAt: NOW });
const read = async (path = '', by = browser) =>
  toReadable((await by.get(`/settings/alerts${path}`)).text);
const write = () => writeDeliveries(api.db, new AbortController().signal);
const record = (set: { state: 'delivered' | 'failed'; status: number | null; answer: string }) =>
  api.db.write((tx) =>
    tx
      .updateTable('delivery')
      .set({ ...set, tried_at: NOW })
      .execute(),
  );

describe('an alert says who was told', () => {
  test('nobody, because there is no mail server, and where to change that', async () => {
    const id = await fire();
    expect(await read()).toMatch(/Open Nobody/);
    const { text } = await browser.get(`/settings/alerts/${id}`);
    expect(toReadable(text)).toContain(
      'Mail is not configured here, so that nobody gets any: the operator of this Plumbline can name a mail server. No webhook wanted it either.',
    );
    expect(text).toContain('<a href="/settings/mail">');
  });

  test('nobody wanted it, where there is a mail server', async () => {
    const { db, ...served } = await serveApi({ mailServer: SERVER });
    const own = await aBareAccount(db);
    const { id: domain } = await aDomain(db, own, { name: 'two.example' });
    const id = await anAlert(db, { accountId: own, domainId: domain }, { firedAt: NOW });
    const { browser: by } = await aSignedIn({ db, ...served }, own);
    expect(await read(`/${id}`, by)).toContain(
      'Nobody of this account wanted mail about alerts, and no webhook wanted it.',
    );
  });

  test('that nobody is told yet, then who was, and of the resolution', async () => {
    await updateMailServer(api.db, 'mail.example');
    const id = await fire();
    expect(await read()).toContain('not yet told by mail');
    await write();
    expect(await read()).toContain('1 not yet told by mail');
    await record({ state: 'delivered', status: 250, answer: '250 ok' });
    expect(await read()).toContain('1 told by mail');
    expect(await read(`/${id}`)).toMatch(/Fired person-\d+@example\.com told by mail/);
    await resolveAlert(api.db, id, NOW);
    await write();
    expect(await read()).toContain('1 not yet told by mail, 1 told by mail');
    expect(await read(`/${id}`)).toMatch(/Resolved person-\d+@example\.com not yet told by mail/);
  });

  test.each([
    [
      { state: 'failed', status: 550, answer: '550 no such person' },
      '1 failed by mail',
      '550 no such person',
    ],
    [
      { state: 'delivered', status: null, answer: 'The person wants no mail about it.' },
      '1 not sent by mail',
      'The person wants no mail about it.',
    ],
  ] as const)('what became of %j', async (outcome, text, why) => {
    await updateMailServer(api.db, 'mail.example');
    const id = await fire();
    await write();
    await record(outcome);
    expect(await read()).toContain(text);
    expect(await read(`/${id}`)).toContain(why);
  });

  test('with addresses to owners alone, and nothing to other accounts', async () => {
    await updateMailServer(api.db, 'mail.example');
    const id = await fire();
    await write();
    const member = await aSignedIn(api, accountId);
    await api.db.write((tx) =>
      tx.updateTable('person').set({ role: 'member' }).where('id', '=', member.id).execute(),
    );
    expect(await read(`/${id}`, member.browser)).toContain('1 not yet told by mail');
    expect(await read(`/${id}`, member.browser)).not.toContain('Of Who Result');
    const other = await aSignedIn(api, await aBareAccount(api.db));
    expect((await other.browser.get(`/settings/alerts/${id}`)).status).toBe(404);
    expect((await browser.get(`/settings/alerts/${UNKNOWN_ID}`)).status).toBe(404);
  });
});
