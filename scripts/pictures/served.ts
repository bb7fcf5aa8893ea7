import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { readConfig } from '../../src/config/config.ts';
import { DEMO_NETWORKS, ingestDemo, insertDemoAccount } from '../../src/demo/demo-data.ts';
import { toInstant } from '../../src/domain/instant.ts';
import { SHOWN_ADDRESS } from '../../src/domain/own-address.ts';
import { createApp } from '../../src/http/app.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { insertPerson } from '../../src/store/people/new-people.ts';
import { insertSession } from '../../src/store/people/sessions.ts';

/** The moment that the pictures show, so that they can be made again. */
const NOW = new Date('2026-03-15T12:00:00Z');
const EMAIL = 'demo@example.com';
/** Nobody signs in with it. */
const PASSWORD_HASH = 'none';

export type Served = Awaited<ReturnType<typeof serveDemo>>;

/** The demo as it is at NOW, with the docs, and the cookie of a person who is signed in. */
export async function serveDemo() {
  const config = readConfig({
    PLUMBLINE_DATABASE: ':memory:',
    PLUMBLINE_IP_DATABASE: DEMO_NETWORKS,
    // The port differs each time.
    PLUMBLINE_BASE_URL: SHOWN_ADDRESS,
  });
  const store = await openStore(config.database);
  const account = await insertDemoAccount(store.db, NOW);
  await ingestDemo(store, account, NOW);
  const cookie = await signIn(store, account.account_id);
  const log = pino({ level: 'silent' });
  const app = await createApp({ config, store, log, now: () => NOW, isStopping: () => false });
  const server = createServer(app.listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await app.flush();
    await store.close();
  };
  return { url: `http://127.0.0.1:${port}`, cookie, close };
}

async function signIn({ db }: Store, accountId: string) {
  const now = toInstant(NOW);
  const person = { accountId, email: EMAIL, passwordHash: PASSWORD_HASH, now };
  const { id: personId } = await insertPerson(db, person);
  const proof = { password_hash: PASSWORD_HASH };
  const session = { personId, proof, address: '192.0.2.1', userAgent: '', now };
  return { name: 'plumbline-session', value: await insertSession(db, session) };
}
