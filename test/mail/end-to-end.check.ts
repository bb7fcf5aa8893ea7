import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import { expect, onTestFinished, test } from 'vitest';
import { readMailbox } from '../../src/intake/doors/imap/imap.ts';
import { startSmtp } from '../../src/intake/doors/smtp/smtp.ts';
import type { Db } from '../../src/store/connection/database.ts';
import { openStore, type Store } from '../../src/store/connection/open.ts';
import { deliver } from '../../src/store/inbox/deliver.ts';
import { findCheckpoint, noteDoor, updateCheckpoint } from '../../src/store/inbox/doors.ts';
import type { Incoming } from '../../src/store/inbox/incoming.ts';
import { findResults } from '../../src/store/inbox/results.ts';
import { aReportMail } from '../support/inbox.ts';
import { aWorker, workAll } from '../support/inbox-worker.ts';
import { startPostgres } from '../support/postgres.ts';
import { listMiscounts } from '../support/recount.ts';
import { aStore } from '../support/store.ts';
import { aDovecot, optionsOf } from './dovecot.ts';
import { anUnreliableNetwork } from './unreliable-network.ts';

const MAILS = 2_000;
const PATIENT = { timeout: 200_000, interval: 100 };
const ADDRESS = 'dmarc@mx.plumbline.example';
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} } as never;
const now = () => new Date('2026-03-15T04:00:00Z');

/** An empty store on a PostgreSQL server of its own. */
async function aStoreOnPostgres(): Promise<Store> {
  const server = await startPostgres();
  onTestFinished(server.stop);
  const store = await openStore(server.toUrl('postgres'));
  onTestFinished(() => store.close());
  return store;
}

const STORES = [
  { engine: 'SQLite', open: aStore },
  { engine: 'PostgreSQL', open: aStoreOnPostgres },
] as const;

/** A store that refuses one mail in twenty: half of them before, and half after it stored them. */
function unreliably(db: Db) {
  return async (incoming: Incoming) => {
    const chance = Math.random();
    if (chance < 0.025) throw new Error('the database is locked');
    await deliver(db, incoming);
    if (chance > 0.975) throw new Error('the answer of the database was lost');
  };
}

/** Every report is stored once, every mail of the inbox is accounted for, and all counts are right. */
async function expectAll(db: Db): Promise<void> {
  await workAll(db);
  const { reports } = await db
    .selectFrom('report')
    .select((eb) => eb.fn.countAll().as('reports'))
    .executeTakeFirstOrThrow();
  expect(Number(reports)).toBe(MAILS);
  const states = await db.selectFrom('inbox_mail').select(['state', 'result']).distinct().execute();
  expect(states).toEqual([{ state: 'done', result: 'processed' }]);
  expect(await listMiscounts(db)).toEqual({});
}

test.each(STORES)(
  '$engine: 2,000 mails by SMTP are stored once each, while the store refuses some',
  async ({ open }) => {
    const { db } = await open();
    const worker = aWorker(db);
    const door = await startSmtp(
      { port: 0, host: '127.0.0.1', name: 'mx.plumbline.example', recipients: [ADDRESS] },
      { deliver: unreliably(db), findAccountByToken: async () => undefined, now, log },
    );
    const transport = createTransport({
      host: '127.0.0.1',
      port: door.port,
      pool: true,
      // As many as may send at the same time from one address.
      maxConnections: 5,
      ignoreTLS: true,
    });
    onTestFinished(() => transport.close());
    let refused = 0;
    const send = async (id: number) => {
      const envelope = { from: 'noreply@reporter.example', to: [ADDRESS] };
      for (;;) {
        const code = await transport.sendMail({ envelope, raw: aReportMail(`smtp-${id}`) }).then(
          () => 250,
          (error: { responseCode?: number }) => error.responseCode,
        );
        if (code === 250) return;
        expect(code).toBe(451);
        refused += 1;
      }
    };
    await Promise.all(Array.from({ length: MAILS }, (_, id) => send(id)));
    await door.stop();
    await worker.stop();
    process.stdout.write(`answered with 451 and sent again: ${refused}\n`);
    expect(refused).toBeGreaterThan(0);
    await expectAll(db);
  },
);

test.each(STORES)(
  '$engine: 2,000 mails by IMAP are stored once each, while the store refuses some, and the server restarts',
  async ({ open }) => {
    const { db } = await open();
    const worker = aWorker(db);
    const server = await aDovecot();
    const network = await anUnreliableNetwork(server.ports.imaps);
    const stopping = new AbortController();
    const limits = { firstRetryMs: 20, maxRetryMs: 200, resultsMs: 50 };
    const reading = readMailbox(
      optionsOf(server, { port: network.port, limits }),
      {
        deliver: unreliably(db),
        findResults: (keys) => findResults(db, keys),
        noteDoor: (name, error) => noteDoor(db, name, error),
        findCheckpoint: (name) => findCheckpoint(db, name),
        updateCheckpoint: (name, text) => updateCheckpoint(db, name, text),
        now,
        log,
      },
      stopping.signal,
    );
    onTestFinished(async () => {
      stopping.abort();
      await reading;
    });
    for (let round = 0; round < 10; round += 1) {
      const ids = Array.from({ length: MAILS / 10 }, (_, i) => `imap-${round}-${i}`);
      await server.add(ids.map((id) => aReportMail(id)));
      await sleep(Math.random() * 1_000);
      network.breakAll();
      if (round % 4 === 3) {
        await server.stop();
        await server.resume();
      }
    }
    await expect.poll(() => server.count(), PATIENT).toBe(0);
    stopping.abort();
    await reading;
    await worker.stop();
    await expectAll(db);
  },
);
