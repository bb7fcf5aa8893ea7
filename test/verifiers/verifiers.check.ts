import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Webhook as Signer } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { createWebhookSecret } from '../../src/domain/webhooks/webhook.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { operator } from '../../src/store/events/audit.ts';
import { insertTest, listDeliveries } from '../../src/store/notify/deliveries.ts';
import { rotateWebhook } from '../../src/store/notify/webhooks.ts';
import { aBareAccount, aDomain, anAlert, aReport, NOW, receive } from '../support/builders.ts';
import { deliverAll } from '../support/outbox.ts';
import { anEndpoint, aWebhook, aWebhookChannel, sealing } from '../support/webhooks.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

/** The command of each receiver, in a folder of its own for what it installs. */
const RECEIVERS: Readonly<Record<string, (folder: string) => [string, ...string[]]>> = {
  JavaScript: () => ['node', join(FOLDER, 'receiver.mjs')],
  Python: (folder) => {
    execFileSync('python3', ['-m', 'venv', folder]);
    execFileSync(join(folder, 'bin/pip'), ['install', '--quiet', 'standardwebhooks==1.1.0']);
    return [join(folder, 'bin/python'), join(FOLDER, 'receiver.py')];
  },
  Go: (folder) => {
    const program = join(folder, 'receiver');
    execFileSync('go', ['build', '-o', program, '.'], { cwd: join(FOLDER, 'go') });
    return [program];
  },
};

async function startReceiver(language: string, secret: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-receiver-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [command, ...args] = RECEIVERS[language]?.(folder) ?? [''];
  const env = { ...process.env, SECRET: secret };
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  const [port] = await once(createInterface(child.stdout), 'line');
  return `http://127.0.0.1:${port}/`;
}

/** A type that the contract does not know may have any context. */
const TOLD = { type: 'alert.any', resolvedAt: NOW, context: { text: '“é” 🙂 \\' } };

test.each(Object.keys(RECEIVERS))(
  'a receiver in %s accepts every delivery, and refuses a changed body, a wrong secret and an old time',
  async (language) => {
    const store = await openStore(':memory:');
    onTestFinished(() => store.close());
    const { db } = store;
    const accountId = await aBareAccount(db);
    const { id: domainId, name } = await aDomain(db, accountId, { name: 'example.com' });
    // The receiver is started with the secret, so its address comes after the endpoint's.
    const { url: recorded, got } = await anEndpoint();
    const { id, secret } = await aWebhook(db, accountId, recorded);
    const url = await startReceiver(language, secret);
    await db.write((tx) => tx.updateTable('webhook').set({ url }).where('id', '=', id).execute());
    await aWebhook(db, accountId, recorded);

    await anAlert(db, { accountId, domainId }, TOLD);
    await receive(db, [aReport({ domain: name })]);
    await insertTest(db, id, operator());
    await deliverAll(db, aWebhookChannel(db));
    await rotateWebhook(db, id, { sealing, by: operator() });
    await insertTest(db, id, operator());
    await deliverAll(db, aWebhookChannel(db));
    const deliveries = await listDeliveries(db, id, { limit: 99 });
    expect(deliveries.map(({ type, status }) => [type, status])).toEqual([
      ...[
        ['webhook.test', 204],
        ['webhook.test', 204],
        ['report.received', 204],
      ],
      ...[
        ['alert.resolved', 204],
        ['alert.fired', 204],
      ],
    ]);

    const body = got[0]?.body ?? '';
    const post = async (sent: string, { by = secret, at = new Date() } = {}) => {
      const headers = {
        'webhook-id': 'one',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Signer(by).sign('one', at, body),
      };
      return (await fetch(url, { method: 'POST', headers, body: sent })).status;
    };
    expect(await post(body)).toBe(204);
    expect(await post(`${body} `)).toBe(400);
    expect(await post(body, { by: createWebhookSecret() })).toBe(400);
    expect(await post(body, { at: new Date(Date.now() - 600_000) })).toBe(400);
  },
);
