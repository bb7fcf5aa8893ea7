import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook as Verifier } from 'standardwebhooks';
import { onTestFinished } from 'vitest';
import { createSealing } from '../../src/domain/access/sealing.ts';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../../src/domain/webhooks/webhook.ts';
import {
  createWebhookChannel,
  type WebhookDeps,
} from '../../src/notify/webhooks/webhook-channel.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { operator } from '../../src/store/events/audit.ts';
import { insertWebhook } from '../../src/store/notify/webhooks.ts';
import { holdToWebhook } from './contract.ts';

type Db = Store['db'];

const LOOPBACK = ['127.0.0.0/8'];
/** In hex. */
export const sealingKey = randomBytes(32).toString('hex');
export const sealing = createSealing(Buffer.from(sealingKey, 'hex'), 'test');

interface Got {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly path: string;
}

type Answer = (res: ServerResponse, got: Got) => void;

const accept: Answer = (res) => void res.writeHead(204).end();

/** A server of somebody's on loopback. What it gets in the standard format is held to the contract. */
export async function anEndpoint(answer: Answer = accept) {
  const got: Got[] = [];
  const wrong: unknown[] = [];
  const server = createServer(async (req: IncomingMessage, res) => {
    const chunks = await req.toArray();
    const one = {
      headers: req.headers as Got['headers'],
      body: Buffer.concat(chunks).toString(),
      path: req.url ?? '',
    };
    got.push(one);
    try {
      if (!one.body.startsWith('{"text"')) holdToWebhook(one);
    } catch (error) {
      wrong.push(error);
    }
    answer(res, one);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    if (wrong.length > 0) throw wrong[0];
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, port, got };
}

/** An endpoint of an account, with its secret. */
export function aWebhook(
  db: Db,
  accountId: string,
  url: string,
  {
    events = WEBHOOK_EVENTS as readonly WebhookEvent[],
    format = 'standard' as 'standard' | 'slack',
    description = '',
  } = {},
) {
  const webhook = { accountId, url, events, format, description };
  return insertWebhook(db, webhook, { sealing, by: operator() });
}

/** The channel, with names that are all on loopback. */
export function aWebhookChannel(db: Db, wanted: Partial<WebhookDeps> = {}) {
  return createWebhookChannel({
    ...{ db, now: () => new Date(), openSealing: async () => sealing, allowed: LOOPBACK },
    ...{ lookUp: async () => ['127.0.0.1'], baseUrl: 'https://dmarc.example.com', ...wanted },
  });
}

/** Throws what the published verifier throws. */
export function verify(secret: string, { body, headers }: Pick<Got, 'body' | 'headers'>): unknown {
  return new Verifier(secret).verify(body, headers as Record<string, string>);
}
