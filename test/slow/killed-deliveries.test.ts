import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { aBareAccount, aDomain, anAlert, NOW } from '../support/builders.ts';
import { countWaiting } from '../support/outbox.ts';
import { aDatabase } from '../support/store.ts';
import { anEndpoint, aWebhook, sealingKey } from '../support/webhooks.ts';

const KILLS = Number(process.env['KILL_ROUNDS'] ?? 10);
const ALERTS = 20 * KILLS;
/** Short enough that some processes are killed while they start to deliver. */
const MAX_LIFE_MS = 1_000;

test('each event reaches an endpoint at least once, with one id, however often the delivering process is killed', {
  timeout: 600_000,
}, async () => {
  const database = await aDatabase();
  const store = await openStore(database);
  onTestFinished(() => store.close());
  const { db } = store;
  const accountId = await aBareAccount(db);
  const { url, accepted } = await aFailingEndpoint();
  await aWebhook(db, accountId, url);

  const firing = fireAll(store, accountId);
  for (let i = 0; i < KILLS; i += 1) {
    const delivering = await startDelivering(database);
    await sleep(Math.random() * MAX_LIFE_MS);
    delivering.kill('SIGKILL');
    await once(delivering, 'exit');
  }
  await firing;
  const last = await startDelivering(database);
  while ((await countWaiting(db)) > 0) await sleep(100);
  last.kill('SIGKILL');

  const events = await db.selectFrom('event').select(['id', 'type', 'data']).execute();
  // The domain's, and two of each alert.
  expect(events).toHaveLength(1 + 2 * ALERTS);
  const wanted = new Map(events.map(({ id, type, data }) => [id, `${type} ${data}`]));
  expect(new Map([...accepted].map(([id, { told }]) => [id, told]))).toEqual(wanted);
  const twice = [...accepted.values()].filter(({ times }) => times > 1).length;
  process.stdout.write(`${twice} of ${events.length} events came more than once\n`);
  // A killed process leaves at most a batch unrecorded.
  expect(twice).toBeLessThanOrEqual(8 * (KILLS + 1));
});

/** Fails a third of all calls, half of those without an answer. */
async function aFailingEndpoint() {
  const accepted = new Map<string, { times: number; told: string }>();
  const { url } = await anEndpoint((res, { headers, body }) => {
    const luck = Math.random();
    if (luck < 1 / 6) return void res.destroy();
    if (luck < 1 / 3) return void res.writeHead(500).end();
    const id = headers['webhook-id'] ?? '';
    const { type, data } = JSON.parse(body);
    const times = (accepted.get(id)?.times ?? 0) + 1;
    accepted.set(id, { times, told: `${type} ${JSON.stringify(data)}` });
    res.writeHead(204).end();
  });
  return { url, accepted };
}

async function fireAll({ db }: Store, accountId: string): Promise<void> {
  const { id: domainId } = await aDomain(db, accountId);
  for (let i = 0; i < ALERTS; i += 1) {
    const alert = { type: `alert.number_${i}`, resolvedAt: NOW, context: { number: i } };
    await anAlert(db, { accountId, domainId }, alert);
    await sleep(5);
  }
}

async function startDelivering(database: string) {
  const script = new URL('../notify/outbox-process.ts', import.meta.url);
  const child = fork(script, [database, sealingKey], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}
