import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { operator } from '../../src/store/events/audit.ts';
import { updatePlan } from '../../src/store/leaving/plan-change.ts';
import {
  disableFailingWebhook,
  listWebhooks,
  updateWebhook,
} from '../../src/store/notify/webhooks.ts';
import { type Api, serveApi } from '../support/api.ts';
import { aBareAccount, aDomain, anAlert, NOW } from '../support/builders.ts';
import { deliverAll } from '../support/outbox.ts';
import { aDatabasePath } from '../support/store.ts';
import { aVisitor, type Browser, toReadable } from '../support/visitor.ts';
import { anEndpoint, aWebhook, aWebhookChannel } from '../support/webhooks.ts';

const PATH = '/settings/integrations/webhooks';
const FIELDS = { url: 'https://example.com/hook', 'alert.fired': 'on', format: 'standard' };

let api: Api;
let accountId: string;
let browser: Browser;

beforeEach(async () => {
  const path = `${aDatabasePath()}.key`;
  writeFileSync(path, randomBytes(32).toString('base64'));
  api = await serveApi({ secretsKeyFile: { path, isMade: false } });
  accountId = await aBareAccount(api.db);
  ({ browser } = await aVisitor(api, accountId));
});

const read = async (path: string) => toReadable((await browser.get(path)).text);

describe('adding an endpoint', () => {
  test('shows its secret in this answer, and on no later page', async () => {
    const { status, text } = await browser.post(PATH, { ...FIELDS, description: 'our desk' });
    expect(status).toBe(200);
    const secret = /whsec_[A-Za-z0-9+/]{43}=/.exec(toReadable(text))?.[0] ?? '';
    expect(secret).not.toBe('');
    expect(text).toContain(`new Webhook(&#39;${secret}&#39;).verify(body, headers)`);
    const [webhook] = await listWebhooks(api.db, accountId);
    expect(webhook).toMatchObject({ url: FIELDS.url, events: ['alert.fired'], enabled: true });
    for (const path of [PATH, `${PATH}/${webhook?.id}`, '/settings/audit'])
      expect(await read(path)).not.toContain(secret.slice(0, 16));
    expect(await read(PATH)).toContain('our desk');
  });

  test.each([
    ['a private address', { url: 'https://10.0.0.1/' }, 'Plumbline does not call 10.0.0.1'],
    ['plain HTTP', { url: 'http://example.com/' }, 'begins with https://'],
    ['a password', { url: 'https://a:b@example.com/' }, 'no name or password'],
    ['no event', { 'alert.fired': '' }, 'Choose one or more of these events'],
    ['a control character', { description: 'a\u0007b' }, 'A description has at most'],
  ])('with %s gives the form back with the reason', async (_what, fields, reason) => {
    const { status, text } = await browser.post(PATH, { ...FIELDS, ...fields });
    expect(status).toBe(422);
    expect(toReadable(text)).toContain(reason);
    expect(await listWebhooks(api.db, accountId)).toEqual([]);
  });

  test('with an address that another one has was done without a word', async () => {
    const twice = 'Another endpoint has the same address';
    const [first, second, other] = [
      await browser.post(PATH, FIELDS),
      await browser.post(PATH, FIELDS),
      await browser.post(PATH, { ...FIELDS, url: 'https://example.com/other' }),
    ].map(({ text }) => toReadable(text).includes(twice));
    expect([first, second, other]).toEqual([false, true, false]);
  });

  test('is not offered with five of five, or without Pro', async () => {
    for (let i = 0; i < 5; i += 1) await aWebhook(api.db, accountId, FIELDS.url);
    expect(await read(PATH)).toContain('5 of 5 endpoints');
    expect((await browser.post(PATH, FIELDS)).status).toBe(409);
    await updatePlan(api.db, accountId, 'free');
    expect(await read(PATH)).toContain('Webhooks are part of the Pro plan');
    expect((await browser.post(PATH, FIELDS)).status).toBe(403);
    expect(await listWebhooks(api.db, accountId)).toHaveLength(5);
  });
});

describe('the page of an endpoint', () => {
  test('is turned off and on, tested, given a new secret and deleted', async () => {
    const { id } = await aWebhook(api.db, accountId, FIELDS.url);
    const own = `${PATH}/${id}`;
    const steps = [
      ['disable', 'The endpoint is off'],
      ['enable', 'The endpoint is on'],
      ['test', 'A test is on its way'],
    ] as const;
    for (const [verb, notice] of steps) {
      expect((await browser.post(`${own}/${verb}`)).status).toBe(303);
      expect(await read(own)).toContain(notice);
    }
    expect(await read(own)).toContain('A test');
    const { text } = await browser.post(`${own}/secret`);
    expect(text).toContain('whsec_');
    expect(await read(own)).toContain('Its secret before signs too');
    expect(await read(`${own}/delete`)).toContain('Delete this endpoint?');
    expect((await browser.post(`${own}/delete`)).status).toBe(303);
    expect((await browser.get(own)).status).toBe(404);
  });

  test('shows deliveries with their answers, and sends one again', async () => {
    const { url, got } = await anEndpoint((res) => res.writeHead(400).end('<b>no</b>'));
    const { id: domainId } = await aDomain(api.db, accountId);
    const { id } = await aWebhook(api.db, accountId, url);
    await anAlert(api.db, { accountId, domainId });
    await deliverAll(api.db, aWebhookChannel(api.db));
    const page = (await browser.get(`${PATH}/${id}`)).text;
    expect(page).toContain('&lt;b&gt;no&lt;/b&gt;');
    expect(toReadable(page)).toMatch(/Failed, to be tried again: answered 400.*try 1/);
    const dueAt = (ms: number) =>
      api.db.write((tx) => tx.updateTable('delivery').set({ due_at_ms: ms }).execute());
    for (const [ms, words] of [
      [Date.now() - 600_000, 'next try at once'],
      [Date.now() + 30_000, 'next try within a minute'],
      [Date.now() + 630_000, 'next try in 10 minutes'],
    ] as const) {
      await dueAt(ms);
      expect(await read(`${PATH}/${id}`)).toContain(words);
    }
    await updateWebhook(api.db, id, false, operator());
    expect(await read(`${PATH}/${id}`)).toMatch(/Failed, waits until it is on: answered 400/);
    expect(await read(`${PATH}/${id}`)).not.toContain('next try');
    await updateWebhook(api.db, id, true, operator());
    const event = got[0]?.headers['webhook-id'];
    expect((await browser.post(`${PATH}/${id}/events/${event}`)).status).toBe(303);
    await deliverAll(api.db, aWebhookChannel(api.db));
    expect(got.map(({ headers }) => headers['webhook-id'])).toEqual([event, event]);
  });

  test.each([
    ['gone', 'answered 410'],
    ['failing', 'for five days every delivery failed'],
  ] as const)('says that it was turned off as %s', async (reason, words) => {
    const { id } = await aWebhook(api.db, accountId, FIELDS.url);
    await disableFailingWebhook(api.db, id, { reason, at: NOW });
    expect(await read(`${PATH}/${id}`)).toContain(words);
    expect((await browser.post(`${PATH}/${id}/test`)).status).toBe(409);
  });

  test('of another account is not found, by any of its forms', async () => {
    const other = await aBareAccount(api.db);
    const { id } = await aWebhook(api.db, other, FIELDS.url);
    for (const path of ['', '/delete'])
      expect((await browser.get(`${PATH}/${id}${path}`)).status).toBe(404);
    for (const verb of ['test', 'enable', 'disable', 'secret', 'delete', `events/${id}`])
      expect([verb, (await browser.post(`${PATH}/${id}/${verb}`)).status]).toEqual([verb, 404]);
    expect(await listWebhooks(api.db, other)).toMatchObject([{ enabled: true }]);
  });
});
