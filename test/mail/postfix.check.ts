import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { type SmtpOptions, startSmtp } from '../../src/intake/doors/smtp/smtp.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { createDeliver } from '../../src/store/inbox/deliver.ts';
import { aReportMail, listMailRows } from '../support/inbox.ts';
import { aDatabasePath } from '../support/store.ts';
import { aPostfix } from './postfix.ts';

const ADDRESS = 'dmarc@mx.plumbline.example';
const MAILS = 300;
const AT_ONCE = 4;
const AGAIN_MS = 5_000;

/** A door that is open, and the rows of mails that it stored. */
async function aDoor(options: Partial<SmtpOptions>) {
  const store = await openStore(await aDatabasePath());
  const deps = {
    deliver: createDeliver(store.db),
    findAccountByToken: async () => undefined,
    now: () => new Date('2026-03-15T04:00:00Z'),
    log: { debug: () => {}, info: () => {}, error: () => {} } as never,
  };
  const port = await findFreePort();
  const address = { port, host: '127.0.0.1', name: 'mx.plumbline.example', recipients: [ADDRESS] };
  const door = await startSmtp({ ...address, ...options }, deps);
  onTestFinished(async () => {
    await door.stop();
    await store.close();
  });
  return { port, count: async () => (await listMailRows(store.db)).length };
}

/** The burst: all are in the queue before the first is sent. Returns why any were put off. */
async function sendBurst({
  port,
  count,
}: Awaited<ReturnType<typeof aDoor>>): Promise<readonly string[]> {
  const postfix = await aPostfix(port);
  const mails = Array.from({ length: MAILS }, () => aReportMail()).values();
  const queueAll = async () => {
    for (const raw of mails) await postfix.queue({ to: ADDRESS, raw });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, queueAll));
  await postfix.start();
  while (postfix.list('sent').length < MAILS) {
    await sleep(AGAIN_MS);
    await postfix.flush();
  }
  expect(await count()).toBe(MAILS);
  expect(postfix.list('bounced')).toEqual([]);
  return postfix.list('deferred');
}

test('none of 300 mails of a Postfix that is trusted is put off', async () => {
  expect(await sendBurst(await aDoor({ trusted: ['127.0.0.1'] }))).toEqual([]);
});

/** Without waiting for places, a fifth was put off. */
test('of 300 mails of a Postfix that nobody trusts, all arrive once, and a tenth at most is put off', async () => {
  const deferred = await sendBurst(await aDoor({}));
  expect(deferred.length, [...new Set(deferred)].join('\n')).toBeLessThanOrEqual(MAILS / 10);
});
