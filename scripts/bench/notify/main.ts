/**
 * What receivers that hang, answer a byte a second or without an end, and a mail server that stalls at DATA cost the others:
 * `npm run bench -- notify`. Rounds without and with them are taken in turn.
 */
import { fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { createSealing } from '../../../src/domain/access/sealing.ts';
import { startMail } from '../../../src/jobs/mail.ts';
import { createOutbox } from '../../../src/notify/outbox.ts';
import { createWebhookChannel } from '../../../src/notify/webhooks/webhook-channel.ts';
import { insertAccount } from '../../../src/store/accounts/accounts.ts';
import { fireAlert } from '../../../src/store/alerts/alerts.ts';
import { insertDomain } from '../../../src/store/domains/domains.ts';
import type { Db } from '../../../src/store/engine/database.ts';
import { openStore } from '../../../src/store/engine/open.ts';
import { operator } from '../../../src/store/events/audit.ts';
import { insertWebhook, updateWebhook } from '../../../src/store/notify/webhooks.ts';
import { insertPerson } from '../../../src/store/people/new-people.ts';
import { print } from '../print.ts';
import type { Ports } from './receivers.ts';

const ROUNDS = 6;
const ALERTS = 30;
const NOW = '2026-03-15T04:12:09Z';
const sealing = createSealing(randomBytes(32), 'bench');

export async function benchNotify(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'));
  const store = await openStore(join(folder, 'plumbline.db'));
  const receivers = fork(new URL('./receivers.ts', import.meta.url));
  try {
    const [ports] = (await once(receivers, 'message')) as [Ports];
    const { db } = store;
    const account = await insertAccount(db, { name: 'A', plan: 'pro', now: NOW });
    const accountId = account.id;
    const owner = { email: 'owner@example.com', role: 'owner', passwordHash: 'x' } as const;
    await insertPerson(db, { ...owner, accountId, now: NOW });
    await addWebhook(db, accountId, ports.quick);
    const bad: string[] = [];
    for (const port of ports.bad) bad.push(await addWebhook(db, accountId, port));
    const mail = {
      ...{ host: '127.0.0.1', port: ports.mail, security: 'none' as const },
      ...{ user: undefined, password: undefined, from: { name: '', address: 'a@example.com' } },
    };
    const log = pino({ level: 'silent' });
    const sending = startMail(mail, {
      store,
      log,
      baseUrl: 'https://dmarc.example.com',
      smtpRecipients: [],
    });
    const stop = deliver(db);
    const times: [number[], number[]] = [[], []];
    const peaks: number[] = [];
    for (let round = 0; round < ROUNDS * 2; round++) {
      const isWithBad = round % 2 === 1;
      for (const id of bad) await updateWebhook(db, id, isWithBad, operator());
      times[isWithBad ? 1 : 0].push(...(await fireAll(db, accountId, receivers)));
      peaks.push(process.memoryUsage.rss() / 2 ** 20);
    }
    tell(times, peaks);
    // What hangs ends with them.
    receivers.kill();
    await stop();
    await sending.stop();
  } finally {
    receivers.kill();
    await store.close();
    await rm(folder, { recursive: true });
  }
}

function tell([without, beside]: readonly [number[], number[]], peaks: readonly number[]): void {
  const [a, b] = [median(without), median(beside)];
  print('\nFrom an alert to a quick endpoint, the median; its mail server stalls at DATA');
  print(
    `  alone ${a.toFixed(0)} ms, beside three slow endpoints ${b.toFixed(0)} ms: ${(b / a).toFixed(2)} × (goal < 1.5)`,
  );
  print(`  memory after each round, MB: ${peaks.map((mb) => mb.toFixed(0)).join(' ')}`);
}

function median(all: number[]): number {
  return all.sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;
}

async function addWebhook(db: Db, accountId: string, port: number): Promise<string> {
  const url = `http://127.0.0.1:${port}/`;
  const webhook = { accountId, url, format: 'standard', description: '' } as const;
  const events = ['alert.fired'] as const;
  return (await insertWebhook(db, { ...webhook, events }, { sealing, by: operator() })).id;
}

function deliver(db: Db): () => Promise<void> {
  const channel = createWebhookChannel({
    ...{ db, now: () => new Date(), openSealing: async () => sealing, allowed: ['127.0.0.0/8'] },
    ...{ lookUp: async () => ['127.0.0.1'], baseUrl: undefined },
  });
  const logError = (error: unknown) => print(`${error}`);
  const outbox = createOutbox({ db, channel, logError, pollMs: 20 });
  const aborting = new AbortController();
  const { signal } = aborting;
  const run = async () => {
    while (!signal.aborted) await outbox.step(signal);
  };
  const running = run();
  return async () => {
    aborting.abort();
    await running;
    await outbox.settle();
  };
}

/** Each in a domain of its own. Returns the milliseconds of each. */
async function fireAll(db: Db, accountId: string, receivers: ReturnType<typeof fork>) {
  const name = `${randomUUID()}.example`;
  const { id: domainId } = await insertDomain(db, { accountId, name, now: NOW });
  const begun = new Map<string, number>();
  const took: number[] = [];
  const note = (type: string) => {
    const at = begun.get(type);
    if (at !== undefined) took.push(performance.now() - at);
  };
  receivers.on('message', note);
  for (let i = 0; i < ALERTS; i++) {
    const type = `alert.number_${i}_${randomUUID()}`;
    begun.set(type, performance.now());
    const context = {};
    await db.write((tx) => fireAlert(tx, { accountId, domainId, type, firedAt: NOW, context }));
    await sleep(150);
  }
  while (took.length < ALERTS) await sleep(20);
  receivers.off('message', note);
  return took;
}
