import { expect, test } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import { aProgram } from '../support/program.ts';

test('a webhook is made, shown, changed and deleted, and its events are listed and sent again', async () => {
  const { run, json } = aProgram();
  const { id: accountId } = await json('account', 'create', 'My company', '--plan', 'pro');
  const url = 'https://example.com/hook';
  const made = await json('webhook', 'create', 'My company', url, '--events', 'alert.fired');
  expect(made).toMatchObject({ url, enabled: true, events: 'alert.fired', format: 'standard' });
  expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const { secret, ...listed } = made;
  expect(await json('webhook', 'list', 'My company')).toEqual([listed]);
  expect(await json('webhook', 'show', made.id)).toEqual(listed);

  const rotated = await json('webhook', 'rotate', made.id);
  expect(rotated.secret).not.toBe(secret);
  expect(rotated.old_secret_until).not.toBeNull();

  const { event } = await json('webhook', 'test', made.id);
  expect(await json('delivery', 'list', made.id)).toMatchObject([
    { event, type: 'webhook.test', state: 'waiting', tries: 0, next_try_at: expect.any(String) },
  ]);
  expect(await json('delivery', 'resend', made.id, event)).toEqual({ event });
  expect((await run(['delivery', 'list', made.id])).stdout).toContain('webhook.test');

  expect(await json('webhook', 'disable', made.id)).toMatchObject({ enabled: false });
  expect(await run(['webhook', 'test', made.id])).toMatchObject({ status: 1 });
  expect(await json('delivery', 'list', made.id)).toMatchObject([{ next_try_at: null }]);
  expect((await run(['delivery', 'list', made.id])).stderr).toContain('waits until it is on');
  expect(await json('webhook', 'enable', made.id)).toMatchObject({ enabled: true });
  expect(await json('webhook', 'delete', made.id)).toEqual({ id: made.id, url, deleted: true });
  expect(await json('webhook', 'list', 'My company')).toEqual([]);
  expect((await run(['webhook', 'list', accountId])).stdout).toContain('no endpoint yet');
});

test('an endpoint with an address that another one has was made without a word', async () => {
  const { run, json } = aProgram();
  await json('account', 'create', 'My company', '--plan', 'pro');
  const create = ['webhook', 'create', 'My company', 'https://example.com/hook', '--json'];
  expect((await run(create)).stderr).toBe('');
  const second = await run(create);
  expect([second.status, second.stderr]).toEqual([
    0,
    expect.stringContaining('Another endpoint has the same address'),
  ]);
});

test('a delivery that nobody answered was listed without the reason', async () => {
  const { run, json, database } = aProgram();
  await json('account', 'create', 'My company', '--plan', 'pro');
  const { id } = await json('webhook', 'create', 'My company', 'https://example.com/hook');
  await json('webhook', 'test', id);
  const answer = 'No DNS server answered for example.com.';
  const store = await openStore(database);
  await store.db.write((tx) => tx.updateTable('delivery').set({ tries: 1, answer }).execute());
  await store.close();
  const { stdout } = await run(['delivery', 'list', id]);
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(answer);
});

test.each([
  ['a private address', ['https://10.0.0.1/hook']],
  ['an unknown event', ['https://example.com/', '--events', 'alert.fired,nothing']],
  ['no event', ['https://example.com/', '--events', '']],
  ['an unknown format', ['https://example.com/', '--format', 'xml']],
  ['a long description', ['https://example.com/', '--description', 'x'.repeat(101)]],
])('a webhook with %s is refused', async (_what, args) => {
  const { run, json } = aProgram();
  await json('account', 'create', 'My company', '--plan', 'pro');
  expect((await run(['webhook', 'create', 'My company', ...args])).status).not.toBe(0);
  expect(await json('webhook', 'list', 'My company')).toEqual([]);
});

test('an allowed network may be called by plain HTTP', async () => {
  const { json } = aProgram({ PLUMBLINE_WEBHOOK_ALLOW: '10.0.0.0/8' });
  await json('account', 'create', 'My company', '--plan', 'pro');
  const { url } = await json('webhook', 'create', 'My company', 'http://10.0.0.1/hook');
  expect(url).toBe('http://10.0.0.1/hook');
});
