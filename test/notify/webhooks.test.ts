import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseStart, type Start } from '../../src/domain/cursor.ts';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import { USUAL_EVENTS } from '../../src/domain/webhooks/webhook.ts';
import { createOutbox } from '../../src/notify/outbox.ts';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { operator } from '../../src/store/events/audit.ts';
import { readFeed } from '../../src/store/feed/feed.ts';
import { updatePlan } from '../../src/store/leaving/plan-change.ts';
import { feedList } from '../../src/store/lists/changes.ts';
import { insertTest, listDeliveries, resend } from '../../src/store/notify/deliveries.ts';
import {
  deleteWebhook,
  findWebhook,
  listWebhooks,
  rotateWebhook,
  updateWebhook,
} from '../../src/store/notify/webhooks.ts';
import { updateMailServer } from '../../src/store/people/person-mail.ts';
import { preferConflict, removeReport } from '../../src/store/reports/corrections.ts';
import { aBareAccount, aDomain, anAlert, aReport, NOW, receive } from '../support/builders.ts';
import { aReceiver, deliverAll, forgetWaits, tellReceivers } from '../support/outbox.ts';
import { aStore } from '../support/store.ts';
import { aReadTlsReport } from '../support/tls-report.ts';
import { anEndpoint, aWebhook, aWebhookChannel, sealing, verify } from '../support/webhooks.ts';

async function aWorld() {
  const { db, reader } = await aStore();
  const accountId = await aBareAccount(db);
  const domain = await aDomain(db, accountId);
  const owner = { accountId, domainId: domain.id };
  return { db, reader, accountId, name: domain.name, owner, channel: aWebhookChannel(db) };
}

const listActions = async (db: Store['db']) =>
  (await db.selectFrom('audit').select('action').orderBy('seq').execute()).map(
    ({ action }) => action,
  );

/** Events that are told together come in any order: one with a domain before the others. */
const byKeys = (a: object, b: object) => Number('domain' in b) - Number('domain' in a);

/** Writes for as long as somebody reads, 10 GB at most. */
function writeOn(res: ServerResponse): void {
  let left = 10e9;
  const more = () => {
    while (!res.destroyed && left > 0) {
      left -= 65_536;
      if (!res.write(Buffer.alloc(65_536, 120))) return void res.once('drain', more);
    }
  };
  more();
}

describe('a delivery', () => {
  test('of each event is signed, and is what the contract says', async () => {
    const { db, accountId, owner, name, channel } = await aWorld();
    const { url, got } = await anEndpoint();
    const { id, secret } = await aWebhook(db, accountId, url);
    await anAlert(db, owner, { resolvedAt: NOW });
    const report = aReport({ domain: name });
    await receive(db, [report]);
    await removeReport(db, toReportId(report), NOW);
    for (const status of ['paused', 'active'] as const)
      await updateDomainStatus(db, owner.domainId, status);
    await removeDomain(db, owner.domainId);
    await insertTest(db, id, operator());
    await deliverAll(db, channel);
    const types = got.map((one) => (verify(secret, one) as { type: string }).type);
    expect(types.toSorted()).toEqual([
      ...['alert.fired', 'alert.resolved', 'domain.listed', 'domain.removed', 'domain.unlisted'],
      ...['report.received', 'report.removed', 'webhook.test'],
    ]);
    for (const { headers, body } of got) {
      expect(headers['webhook-id']).not.toContain('.');
      expect(Buffer.byteLength(body)).toBeLessThan(20_000);
    }
  });

  test('of TLS reports goes to an endpoint that chooses so, with a cursor of before them', async () => {
    const { reader, db, accountId, owner, name, channel } = await aWorld();
    const [chosen, usual] = [await anEndpoint(), await anEndpoint()];
    await aWebhook(db, accountId, chosen.url, { events: ['tls_report.received'] });
    await aWebhook(db, accountId, usual.url, { events: USUAL_EVENTS });
    await receive(db, [aReadTlsReport({ domain: name }), aReport({ domain: name })]);
    for (const status of ['paused', 'active'] as const)
      await updateDomainStatus(db, owner.domainId, status);
    await deliverAll(db, channel);
    const told = chosen.got.map(({ body }) => JSON.parse(body));
    const data = { domain_id: owner.domainId, report_count: 1 };
    expect(told).toMatchObject([1, 2].map(() => ({ type: 'tls_report.received', data })));
    const types = usual.got.map(({ body }) => JSON.parse(body).type);
    expect(types).not.toContain('tls_report.received');
    for (const { cursor } of told.map((one) => one.data)) {
      const start = parseStart(feedList(accountId), cursor) as Start;
      const page = await readFeed(reader, { accountId, start, limit: 1_000, hasTls: true });
      expect(page?.items.map((text) => JSON.parse(text).type)).toContain('tls_report.stored');
    }
  });

  test('of a change of the feed has the feed’s item, and a cursor of before it', async () => {
    const { reader, db, accountId, owner, channel } = await aWorld();
    const { url, got } = await anEndpoint();
    await aWebhook(db, accountId, url);
    const domain = 'joins.example';
    const toReport = (reportId: string, payload = 'a') => aReport({ domain, reportId, payload });
    await receive(db, [toReport('one'), toReport('two'), toReport('one', 'b')]);
    const [removed, received] = [toReportId(toReport('two')), { report_count: 1 }];
    const { id } = await aDomain(db, owner.accountId, { name: domain });
    const conflict = db.selectFrom('conflict').select('seq');
    const { seq } = await conflict.executeTakeFirstOrThrow();
    const steps: [() => Promise<unknown>, wanted: object[]][] = [
      [async () => {}, [{ domain: { domain } }, { report_count: 2 }]],
      [() => preferConflict(db, seq), [received]],
      [() => removeReport(db, removed, NOW), [{ type: 'report.removed', report_id: removed }]],
      [() => updateDomainStatus(db, id, 'paused'), [{ type: 'domain.unlisted' }]],
      [() => updateDomainStatus(db, id, 'active'), [{ domain: { status: 'active' } }, received]],
      [() => receive(db, [aReport({ domain })]), [received]],
      [() => removeDomain(db, id), [{ type: 'domain.removed' }]],
    ];
    for (const [step, wanted] of steps) {
      await step();
      await deliverAll(db, channel);
      const told = got.splice(0).map(({ body }) => JSON.parse(body).data);
      expect(told.toSorted(byKeys)).toMatchObject(wanted);
      for (const { cursor, report_count, ...item } of told) {
        const start = parseStart(feedList(accountId), cursor) as Start;
        const page = await readFeed(reader, { accountId, start, limit: 1_000 });
        const since = page?.items.map((text) => JSON.parse(text)) ?? [];
        if (report_count === undefined) expect(since[0]).toEqual(item);
        else expect(since.filter(({ report }) => report)).toHaveLength(report_count);
      }
    }
  });

  test('of a domain with many reports that is removed with them is one', async () => {
    const { db, accountId, owner, name, channel } = await aWorld();
    await receive(
      db,
      Array.from({ length: 30 }, () => aReport({ domain: name })),
    );
    const { url, got } = await anEndpoint();
    await aWebhook(db, accountId, url);
    await removeDomain(db, owner.domainId, { deletesReports: true });
    await deliverAll(db, channel);
    const types = got.map(({ body }) => JSON.parse(body).type).toSorted();
    expect(types).toEqual(['domain.removed', 'domain.unlisted']);
  });

  test('with a changed body, another secret or an old time is not accepted', async () => {
    const { db, accountId, owner, channel } = await aWorld();
    const { url, got } = await anEndpoint();
    const { secret } = await aWebhook(db, accountId, url);
    await anAlert(db, owner);
    await deliverAll(db, channel);
    const [one] = got;
    if (one === undefined) throw new Error('Nothing was delivered.');
    const other = await aWebhook(db, accountId, url);
    const old = {
      ...one.headers,
      'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 600),
    };
    expect(() => verify(secret, { ...one, body: `${one.body} ` })).toThrow('No matching signature');
    expect(() => verify(other.secret, one)).toThrow('No matching signature');
    expect(() => verify(secret, { ...one, headers: old })).toThrow('too old');
  });

  test.each([
    ['a redirect', 302, 'waiting'],
    ['a fault', 500, 'waiting'],
    ['too many', 429, 'waiting'],
    ['not now', 503, 'waiting'],
    ['created', 201, 'delivered'],
    ['gone', 410, 'failed'],
  ])('that is answered with %s, %i, is %s', async (_what, status, state) => {
    const { db, accountId, owner, channel } = await aWorld();
    const target = await anEndpoint();
    const { url } = await anEndpoint((res) =>
      res.writeHead(status, { location: target.url, 'retry-after': '3600' }).end('x'.repeat(900)),
    );
    const { id } = await aWebhook(db, accountId, url);
    await anAlert(db, owner);
    await deliverAll(db, channel);
    const [delivery] = await listDeliveries(db, id, { limit: 9 });
    expect(delivery).toMatchObject({ state, status, tries: 1, answer: 'x'.repeat(500) });
    const waitMs = (delivery?.due_at_ms ?? 0) - Date.now();
    if (status === 429 || status === 503) expect(waitMs).toBeGreaterThan(3_500_000);
    if (status === 302 || status === 500) expect(waitMs).toBeLessThan(60_000);
    expect(target.got).toEqual([]);
    expect((await findWebhook(db, id)).enabled).toBe(status !== 410);
  });

  test('waits until the time that a Retry-After names, also one of days, for as long as events are kept', async () => {
    const { db, accountId, owner, channel } = await aWorld();
    const until = new Date(Date.now() + 7_200_000).toUTCString();
    const given = [until, '172800', '999999999', 'soon'].values();
    const { url } = await anEndpoint((res) =>
      res.writeHead(503, { 'retry-after': given.next().value }).end(),
    );
    const { id } = await aWebhook(db, accountId, url);
    const waits: number[] = [];
    for (const type of ['alert.a', 'alert.b', 'alert.c', 'alert.d']) {
      await anAlert(db, owner, { type });
      await deliverAll(db, channel);
      await db.write((tx) => tx.updateTable('receiver').set({ free_at_ms: 0 }).execute());
      const [latest] = await listDeliveries(db, id, { limit: 1 });
      waits.push(((latest?.due_at_ms ?? 0) - Date.now()) / 3_600_000);
    }
    expect(waits.map((hours) => Math.round(hours))).toEqual([2, 48, 720, 0]);
  });

  test('has fifteen seconds', async () => {
    const { db, accountId, owner, channel } = await aWorld();
    await aWebhook(db, accountId, (await anEndpoint()).url);
    await anAlert(db, owner);
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    onTestFinished(() => timeout.mockRestore());
    await deliverAll(db, channel);
    expect(timeout).toHaveBeenCalledWith(15_000);
  });

  test('is tried ten times within four days, at the times that Standard Webhooks recommends', () => {
    const { waitsMs } = aWebhookChannel({} as Store['db']);
    const hours = [2, 5, 10, 14, 20, 24].map((hour) => hour * 3_600);
    expect(waitsMs.map((ms) => ms / 1_000)).toEqual([5, 300, 1_800, ...hours]);
  });

  test.each([
    ['hangs', () => {}],
    [
      'answers a byte at a time',
      (res: { write: (text: string) => unknown }) => {
        const timer = setInterval(() => res.write('x'), 20);
        timer.unref();
      },
    ],
  ])('to an endpoint that %s ends in time', async (_what, answer) => {
    const { db, accountId, owner } = await aWorld();
    const { url } = await anEndpoint(answer);
    const { id } = await aWebhook(db, accountId, url);
    await anAlert(db, owner);
    await deliverAll(db, aWebhookChannel(db, { timeoutMs: 300 }));
    expect(await listDeliveries(db, id, { limit: 9 })).toMatchObject([
      { state: 'waiting', tries: 1, answer: 'It did not answer in time.' },
    ]);
  });

  test('to endpoints that hang, answer a byte at a time or without an end holds up no other endpoint', async () => {
    const { db, accountId, owner, channel } = await aWorld();
    const held: ServerResponse[] = [];
    const hanging = await anEndpoint((res) => void held.push(res));
    const slow = await anEndpoint((res) => {
      held.push(res);
      res.write('x');
    });
    const endless = await anEndpoint(writeOn);
    const quick = await anEndpoint();
    for (const { url } of [hanging, slow, endless, quick]) await aWebhook(db, accountId, url);
    for (let i = 0; i < 30; i += 1) await anAlert(db, owner, { type: `alert.${i}` });
    const logError = (error: unknown) => {
      throw error;
    };
    const outbox = createOutbox({ db, channel, logError, pollMs: 10 });
    const { signal } = new AbortController();
    while (quick.got.length < 30) await outbox.step(signal);
    // Each eight take 15 seconds.
    for (const { got } of [hanging, slow]) expect(got.length).toBeLessThanOrEqual(8);
    for (const res of held) expect(res.destroyed).toBe(false);
    for (const res of held) res.destroy();
    await outbox.settle();
  });

  test('reads 64 kB of an answer that does not end, and no more', async () => {
    const { db, accountId, owner } = await aWorld();
    const { url } = await anEndpoint((res) => void res.write('x'.repeat(64 * 1024 + 1)));
    const { id } = await aWebhook(db, accountId, url);
    await anAlert(db, owner);
    await deliverAll(db, aWebhookChannel(db, { timeoutMs: 2_000 }));
    expect(await listDeliveries(db, id, { limit: 9 })).toMatchObject([
      { state: 'delivered', answer: 'x'.repeat(500) },
    ]);
  });

  test('is recorded whatever bytes answer it', async () => {
    const { db, accountId, owner, channel } = await aWorld();
    const bytes = Buffer.from([0, 0xff, 0xed, 0xa0, 0x80, 0x1b, ...Buffer.from('é'.repeat(300))]);
    const { url, got } = await anEndpoint((res) => res.writeHead(200).end(bytes));
    const { id } = await aWebhook(db, accountId, url);
    await anAlert(db, owner);
    await deliverAll(db, channel);
    expect(await listDeliveries(db, id, { limit: 9 })).toMatchObject([
      { state: 'delivered', answer: expect.stringContaining('éé') },
    ]);
    expect(got).toHaveLength(1);
  });

  test('in the format of chats is a sentence with a link, which calls nobody', async () => {
    const { db, accountId, owner, channel } = await aWorld();
    const { url, got } = await anEndpoint();
    const { secret } = await aWebhook(db, accountId, url, { format: 'slack' });
    const type = 'alert.dns_record_changed';
    const context = {
      ...{ record_type: 'DMARC', record_name: '_dmarc.example.com', change: 'added' },
      current_value: '<!channel> & @all <https://evil.example|here>',
    };
    await anAlert(db, owner, { type, context });
    await deliverAll(db, channel);
    const [one] = got;
    if (one === undefined) throw new Error('Nothing was delivered.');
    const { text } = verify(secret, one) as { text: string };
    expect(text).toMatch(/^DNS record changed on d\d+\.example: The DMARC record at/);
    expect(text).toContain('&lt;!channel&gt; &amp; @\u200ball');
    expect(text).toContain(`https://dmarc.example.com/settings/domains/${owner.domainId}`);
    expect(text).not.toMatch(/[<>]/);
  });

  test('in the format of chats says of each change what happened', async () => {
    const { db, accountId, owner, name, channel } = await aWorld();
    const { url, got } = await anEndpoint();
    await aWebhook(db, accountId, url, { format: 'slack' });
    const report = aReport({ domain: name });
    const steps: [() => Promise<unknown>, text: string][] = [
      [() => receive(db, [report]), `1 new report about ${name}`],
      [() => removeReport(db, toReportId(report), NOW), `A report about ${name} was removed`],
      [() => updateDomainStatus(db, owner.domainId, 'paused'), `${name} was paused`],
      [() => updateDomainStatus(db, owner.domainId, 'active'), `${name} is monitored`],
      [() => removeDomain(db, owner.domainId), 'A domain was removed from the account'],
    ];
    for (const [step, text] of steps) {
      await step();
      await deliverAll(db, channel);
      expect(got.splice(0).map(({ body }) => JSON.parse(body).text.split('\n')[0])).toEqual([text]);
    }
  });
});

describe('a secret', () => {
  test('that was rotated signs together with the new one, for a day', async () => {
    const { db, accountId, owner, channel } = await aWorld();
    const { url, got } = await anEndpoint();
    const { id, secret } = await aWebhook(db, accountId, url);
    const { secret: renewed } = await rotateWebhook(db, id, { sealing, by: operator() });
    await anAlert(db, owner);
    await deliverAll(db, channel);
    for (const one of got) for (const each of [secret, renewed]) verify(each, one);
    for (const ms of [-60_000, 1_000]) {
      const now = () => new Date(Date.now() + 24 * 3_600_000 + ms);
      await resend(db, id, got[0]?.headers['webhook-id'] ?? '', operator());
      await deliverAll(db, aWebhookChannel(db, { now }));
    }
    const signatures = got.map(({ headers }) => headers['webhook-signature']?.split(' ').length);
    expect(signatures).toEqual([2, 2, 1]);
  });

  test('is not in the database in the clear', async () => {
    const { db, accountId } = await aWorld();
    const { secret } = await aWebhook(db, accountId, 'https://example.com/hook');
    const rows = await db.selectFrom('webhook').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(secret.slice('whsec_'.length, 20));
  });
});

describe('an endpoint', () => {
  test('that is off gets nothing, and what waited when it is on again', async () => {
    const { db, accountId, owner, channel } = await aWorld();
    const { url, got } = await anEndpoint();
    const { id } = await aWebhook(db, accountId, url);
    await anAlert(db, owner, { type: 'alert.before' });
    await tellReceivers(db);
    await updateWebhook(db, id, false, operator());
    await anAlert(db, owner, { type: 'alert.meanwhile' });
    await deliverAll(db, channel);
    expect(got).toEqual([]);
    await updateWebhook(db, id, true, operator());
    await deliverAll(db, channel);
    expect(got.map(({ body }) => JSON.parse(body).data.type)).toEqual(['alert.before']);
  });

  test('that has failed for five days is turned off, and owners can be told', async () => {
    const { db, accountId, owner, channel } = await aWorld();
    const { url } = await anEndpoint((res) => res.writeHead(500).end());
    const { id } = await aWebhook(db, accountId, url);
    await updateMailServer(db, 'relay.example.com');
    await aReceiver(db, accountId, { channel: 'mail', types: ['webhook.disabled'] });
    await anAlert(db, owner);
    const since = { failing_since_ms: Date.now() - 5 * 864e5 };
    await db.write((tx) => tx.updateTable('receiver').set(since).where('id', '=', id).execute());
    await deliverAll(db, channel);
    expect(await findWebhook(db, id)).toMatchObject({ enabled: false, offReason: 'failing' });
    expect(await listActions(db)).toContain('webhook_disabled_as_failing');
    const events = await db.selectFrom('event').select(['type', 'data']).execute();
    expect(events.map(({ type }) => type)).toEqual(['alert.fired', 'webhook.disabled']);
  });

  test('that has failed for less is on', async () => {
    const { db, accountId, owner, channel } = await aWorld();
    const { url } = await anEndpoint((res) => res.writeHead(500).end());
    const { id } = await aWebhook(db, accountId, url);
    await anAlert(db, owner);
    const since = { failing_since_ms: Date.now() - 4.9 * 864e5 };
    await db.write((tx) => tx.updateTable('receiver').set(since).execute());
    await deliverAll(db, channel);
    expect((await findWebhook(db, id)).enabled).toBe(true);
  });

  test('of an account that leaves Pro is off, and cannot be turned on or added', async () => {
    const { db, accountId } = await aWorld();
    const { id } = await aWebhook(db, accountId, 'https://example.com/hook');
    await updatePlan(db, accountId, 'free');
    expect(await findWebhook(db, id)).toMatchObject({ enabled: false, offReason: 'plan' });
    await expect(updateWebhook(db, id, true, operator())).rejects.toThrow('part of the Pro plan');
    await expect(aWebhook(db, accountId, 'https://example.com/')).rejects.toThrow('Pro plan');
    await updatePlan(db, accountId, 'pro');
    expect((await findWebhook(db, id)).enabled).toBe(false);
  });

  test('is one of five at most, however many are made at the same time', async () => {
    const { db, accountId } = await aWorld();
    const made = Array.from({ length: 9 }, () => aWebhook(db, accountId, 'https://example.com/'));
    const results = await Promise.allSettled(made);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect(await listWebhooks(db, accountId)).toHaveLength(5);
  });

  test('of another account is not found', async () => {
    const { db, accountId } = await aWorld();
    const { id } = await aWebhook(db, accountId, 'https://example.com/hook');
    const by = { ...operator(), accountId: await aBareAccount(db) };
    const tries = [
      () => findWebhook(db, id, by),
      () => updateWebhook(db, id, false, by),
      () => rotateWebhook(db, id, { sealing, by }),
      () => deleteWebhook(db, id, by),
      () => insertTest(db, id, by),
      () => resend(db, id, id, by),
    ];
    for (const one of tries) await expect(one()).rejects.toThrow('No webhook has the id');
    expect((await findWebhook(db, id)).enabled).toBe(true);
  });

  test('that was deleted while it was called stops nothing', async () => {
    const { db, accountId, owner, channel } = await aWorld();
    const { url, got } = await anEndpoint((res) => {
      void deleteWebhook(db, id, operator()).finally(() => res.writeHead(410).end());
    });
    const { id } = await aWebhook(db, accountId, url);
    await anAlert(db, owner);
    await deliverAll(db, channel);
    expect(got).toHaveLength(1);
    expect(await db.selectFrom('receiver').selectAll().execute()).toEqual([]);
  });

  test('every change is in the audit', async () => {
    const { db, accountId, owner, channel } = await aWorld();
    const { url, got } = await anEndpoint();
    const { id } = await aWebhook(db, accountId, url, { description: 'chat' });
    await updateWebhook(db, id, false, operator());
    await updateWebhook(db, id, true, operator());
    await rotateWebhook(db, id, { sealing, by: operator() });
    await insertTest(db, id, operator());
    await anAlert(db, owner);
    await deliverAll(db, channel);
    await resend(db, id, got[0]?.headers['webhook-id'] ?? '', operator());
    await deleteWebhook(db, id, operator());
    expect((await listActions(db)).filter((one) => /webhook|delivery/.test(one))).toEqual([
      ...['webhook_created', 'webhook_disabled', 'webhook_enabled', 'webhook_rotated'],
      ...['webhook_tested', 'delivery_resent', 'webhook_deleted'],
    ]);
  });

  test('that rests is tested at once', async () => {
    const { db, accountId, owner } = await aWorld();
    let status = 500;
    const { url, got } = await anEndpoint((res) => res.writeHead(status).end());
    const { id } = await aWebhook(db, accountId, url);
    await anAlert(db, owner);
    const since = { failing_since_ms: Date.now() - 864e5 };
    await db.write((tx) => tx.updateTable('receiver').set(since).execute());
    await deliverAll(db, aWebhookChannel(db));
    status = 200;
    await insertTest(db, id, operator());
    await deliverAll(db, aWebhookChannel(db));
    expect(got).toHaveLength(2);
    await forgetWaits(db);
    await deliverAll(db, aWebhookChannel(db));
    expect((await listDeliveries(db, id, { limit: 9 })).map(({ state }) => state)).toEqual([
      ...['delivered', 'delivered'],
    ]);
  });
});
