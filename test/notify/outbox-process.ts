/** Delivers to webhooks until it is killed. It is a process of its own for tests. */
import { createSealing } from '../../src/domain/access/sealing.ts';
import { createOutbox } from '../../src/notify/outbox.ts';
import { createWebhookChannel } from '../../src/notify/webhooks/webhook-channel.ts';
import { openStore } from '../../src/store/engine/open.ts';

const [database = '', key = ''] = process.argv.slice(2);
const { db } = await openStore(database);
const sealing = createSealing(Buffer.from(key, 'hex'), 'test');
const channel = createWebhookChannel({
  ...{ db, now: () => new Date(), openSealing: async () => sealing, allowed: ['127.0.0.0/8'] },
  ...{ lookUp: async () => ['127.0.0.1'], baseUrl: undefined },
});
// Short, so that what failed or was claimed by a killed process comes again while the test lasts.
const quick = { ...channel, waitsMs: Array.from({ length: 200 }, () => 50) };
const logError = (error: unknown) => process.stderr.write(`${error}\n`);
const outbox = createOutbox({ db, channel: quick, logError, pollMs: 20, claimMs: 1_000 });
process.send?.('ready');
const { signal } = new AbortController();
for (;;) await outbox.step(signal).catch(logError);
