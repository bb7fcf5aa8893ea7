import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import { lockDomain } from '../../src/store/lists/heads.ts';
import { findHead, readCurrentPage } from '../../src/store/lists/page.ts';
import { reportsOf } from '../../src/store/reports/reports.ts';
import { aBareAccount, aDomain, aReport, receive } from '../support/builders.ts';
import { IS_CITUS } from '../support/citus-databases.ts';
import { aDatabase, aStore } from '../support/store.ts';

test('a change that waits too long for a lock is a failure that people can act on', async ({
  skip,
}) => {
  skip(IS_CITUS);
  const { db } = await aStore();
  const { id } = await aDomain(db, await aBareAccount(db));
  const isHeld = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const holding = db.write(async (tx) => {
    await lockDomain(tx, id);
    isHeld.resolve();
    await mayEnd.promise;
  });
  await isHeld.promise;
  const waiting = db.write(async (tx) => {
    await sql`set local lock_timeout = '50ms'`.execute(tx);
    await lockDomain(tx, id);
  });
  await expect(waiting).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('is busy'),
  });
  mayEnd.resolve();
  await holding;
});

/** A server that accepts connections and says nothing. */
async function aSilentServer() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

test('pages come from the primary while the replica says nothing, and it is not asked for each page', async () => {
  const { port, sockets } = await aSilentServer();
  const warned: Error[] = [];
  const store = await openStore(await aDatabase(), {
    replica: `postgres://plumbline@127.0.0.1:${port}/silent`,
    warn: (error) => warned.push(error),
  });
  const accountId = await aBareAccount(store.db);
  const { id: domainId, name } = await aDomain(store.db, accountId);
  await receive(store.db, [aReport({ domain: name })]);
  const list = reportsOf({ accountId, domainId });
  const head = await findHead(store.reader, list);
  if (head === undefined) throw new Error('no list');
  for (let page = 0; page < 3; page++) {
    const read = await readCurrentPage(store.reader, list, { page: { limit: 9, offset: 0 }, head });
    expect(read.items).toHaveLength(1);
  }
  expect([sockets.length, warned.length]).toEqual([1, 1]);
  await store.close();
});
