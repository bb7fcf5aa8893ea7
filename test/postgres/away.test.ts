import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { isReadable, openStore } from '../../src/store/engine/open.ts';
import { serveOn } from '../postgres-faults/served.ts';
import { aDomain, anAccount, aReport, receive } from '../support/builders.ts';
import { copyDatabase, runOn } from '../support/postgres-stores.ts';
import { aProgram } from '../support/program.ts';
import { aDatabase } from '../support/store.ts';

const FIXTURE = fileURLToPath(new URL('../fixtures/example-plain.xml', import.meta.url));

/** A way to a database that can be closed: then connections are refused, and those that are open are reset. */
async function aWay(database: string) {
  const { port: target } = new URL(database);
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    const other = connect(Number(target), '127.0.0.1');
    for (const end of [socket, other]) {
      open.add(end);
      end.on('error', () => {}).on('close', () => open.delete(end));
    }
    socket.pipe(other).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    for (const socket of open) socket.resetAndDestroy();
  };
  onTestFinished(close);
  const url = new URL(database);
  url.port = `${port}`;
  return {
    url: url.href,
    close,
    reopen: () => once(server.listen(port, '127.0.0.1'), 'listening'),
  };
}

/** Keeps a lock on tables until it is called. */
async function lock(url: string, tables: string): Promise<() => Promise<void>> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`begin; lock table ${tables} in access exclusive mode`);
  const release = () => client.end();
  onTestFinished(() => release().catch(() => {}));
  return release;
}

describe('a database that is away for the moment', () => {
  test('was an error at once for pages: they wait for a connection that is open', async () => {
    const way = await aWay(await aDatabase());
    const served = await serveOn(way.url);
    onTestFinished(served.stop);
    way.close();
    const asked = Promise.all(Array.from({ length: 20 }, () => served.ask(served.list)));
    await expect.poll(() => isReadable(served.store)).toBe(false);
    await way.reopen();
    expect(new Set((await asked).map(({ status }) => status))).toEqual(new Set([200]));
  });

  test('and stays away: 503 that says when to ask again', async () => {
    const way = await aWay(await aDatabase());
    const served = await serveOn(way.url);
    onTestFinished(served.stop);
    way.close();
    const { status, headers } = await served.ask(served.list);
    expect([status, headers['retry-after']]).toEqual([503, '5']);
  });

  test('ended an ingest: it tells of each try, goes on, and nothing is stored twice', async () => {
    const database = await aDatabase();
    const store = await openStore(database);
    const account = await anAccount(store.db);
    const domain = await aDomain(store.db, account.id);
    await store.close();
    const way = await aWay(database);
    const told: Error[] = [];
    const patience = { forMs: 120_000, tell: (error: Error) => void told.push(error) };
    const patient = await openStore(way.url, { patience });
    onTestFinished(patient.close);
    way.close();
    const report = aReport({ domain: domain.name });
    const storing = receive(patient.db, [report]);
    await expect.poll(() => told.length).toBeGreaterThan(1);
    await way.reopen();
    await storing;
    await receive(patient.db, [report]);
    const { reports_total } = await patient.db
      .selectFrom('domain')
      .select('reports_total')
      .executeTakeFirstOrThrow();
    expect(reports_total).toBe(1);
  });

  test('when an ingest begins: the command waits, with a line for each try', async () => {
    const way = await aWay(await aDatabase());
    way.close();
    const { run } = aProgram({ PLUMBLINE_DATABASE: way.url });
    const running = run(['ingest', FIXTURE]);
    const printed = () => vi.mocked(process.stderr.write).mock.calls.length;
    await expect.poll(printed).toBeGreaterThan(0);
    await way.reopen();
    const { status, stderr } = await running;
    expect(status).toBe(0);
    expect(stderr).toMatch(/cannot be reached: .*Trying again for \d+ s\./);
  });
});

test('a statement that the server refuses was taken for a lost connection: it is an error at once, with its own words', async () => {
  const told: Error[] = [];
  const patience = { forMs: 120_000, tell: (error: Error) => void told.push(error) };
  const { db, close } = await openStore(await aDatabase(), { patience });
  onTestFinished(close);
  const refused = sql`select count(*) from report for update`;
  const error = await db.write((tx) => refused.execute(tx)).catch((reason) => reason);
  expect(error).toMatchObject({
    code: '0A000',
    message: 'FOR UPDATE is not allowed with aggregate functions',
  });
  expect(told).toEqual([]);
});

test('a statement that was prepared before a table changed is prepared again', async () => {
  const url = await copyDatabase('postgres');
  const { db, close } = await openStore(url, { patience: { forMs: 5_000 } });
  onTestFinished(close);
  const all = sql`select * from mail_server`;
  const read = () => db.write((tx) => all.execute(tx));
  await read();
  await runOn(url, 'alter table mail_server add column port integer');
  expect((await read()).rows).toEqual([]);
});

describe('a table that somebody has locked', () => {
  test('took every connection: the list of domains and /readyz answer beside it', async () => {
    const database = await aDatabase();
    const served = await serveOn(database);
    onTestFinished(served.stop);
    const release = await lock(database, 'report');
    const waiting = Promise.all(Array.from({ length: 60 }, () => served.ask(served.list)));
    for (let round = 0; round < 10; round++) {
      expect((await served.ask('/v1/external/domains')).status).toBe(200);
      expect(await served.readiness()).toBe(200);
    }
    await release();
    const statuses = new Set((await waiting).map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  });
});
