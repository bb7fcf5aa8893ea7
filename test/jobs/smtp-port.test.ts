import { rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Failure } from '../../src/domain/failure.ts';
import type { Deliver } from '../../src/domain/incoming.ts';
import type { CertificateFiles } from '../../src/intake/doors/smtp/certificate.ts';
import { startSmtpDoor } from '../../src/jobs/doors.ts';
import { listDoors, noteDoor, readInboxOverview } from '../../src/store/inbox/doors.ts';
import { aCertificate } from '../support/certificate.ts';
import { aFolder } from '../support/command.ts';
import { aTransaction } from '../support/raw-smtp.ts';
import { ADDRESS } from '../support/smtp-door.ts';
import { aStore } from '../support/store.ts';

/** A port of the loopback address that nobody listens on. */
async function aFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

type Store = Awaited<ReturnType<typeof aStore>>;

/** Opens the door of one process, and returns its log. */
function openDoor(
  store: Store,
  port: number,
  {
    certificate,
    deliver = async () => {},
    noteMs = 20,
  }: { certificate?: CertificateFiles; deliver?: Deliver; noteMs?: number } = {},
) {
  const lines: string[] = [];
  const note = (about: unknown, text = about) => void lines.push(String(text));
  const address = { port, host: '127.0.0.1', name: 'mx.plumbline.example', recipients: [ADDRESS] };
  const smtp = { ...address, trusted: [], certificate, certificateLookMs: 10 };
  const door = startSmtpDoor(smtp, {
    ...{ store, noteMs },
    deliver,
    log: { info: note, warn: note, error: note, debug: note } as never,
  });
  onTestFinished(door.stop);
  return lines;
}

const untilSaid = async (lines: string[], text: string) => {
  while (!lines.some((line) => line.includes(text))) await sleep(5);
};

test('a second process with the same SMTP port does not make the open door fail', async () => {
  const store = await aStore();
  const port = await aFreePort();
  await untilSaid(openDoor(store, port), 'the door is open');
  await untilSaid(openDoor(store, port), 'the address is in use');
  const rows = await store.db.selectFrom('door_state').select('last_error_at').execute();
  expect(rows).toEqual([{ last_error_at: null }]);
});

test('an open SMTP door notes again and again that it works', async () => {
  const store = await aStore();
  await untilSaid(openDoor(store, await aFreePort()), 'the door is open');
  await noteDoor(store.db, 'smtp', 'Another process had no certificate.');
  const isFailing = async () => (await readInboxOverview(store.db)).doors[0]?.failing !== undefined;
  while (await isFailing()) await sleep(5);
});

test('an SMTP door says at once, and logs once, that the disk is full, until a mail is stored again', async () => {
  const store = await aStore();
  const port = await aFreePort();
  let isFull = true;
  const deliver: Deliver = async ({ bytes }) => {
    for await (const _chunk of bytes as AsyncIterable<Uint8Array>);
    if (isFull) throw new Failure('unavailable', 'The mail could not be stored: disk is full');
  };
  const lines = openDoor(store, port, { deliver, noteMs: 3_600_000 });
  await untilSaid(lines, 'the door is open');
  const send = async () => {
    const smtp = await aTransaction(port, ADDRESS);
    await smtp.ask('DATA');
    return await smtp.ask('Subject: x\r\n\r\nx\r\n.');
  };
  const findFault = async () => (await listDoors(store.db))[0]?.fault;
  expect(await send()).toMatch(/^4/);
  expect(await send()).toMatch(/^4/);
  expect(lines.filter((line) => line.includes('messages are refused'))).toEqual([
    'smtp: messages are refused: The mail could not be stored: disk is full',
  ]);
  while ((await findFault()) !== 'The mail could not be stored: disk is full') await sleep(5);
  isFull = false;
  expect(await send()).toMatch(/^250/);
  while ((await findFault()) !== null) await sleep(5);
});

test('an SMTP door that could not store a mail works again without another mail', async () => {
  const store = await aStore();
  const port = await aFreePort();
  const deliver: Deliver = async ({ bytes }) => {
    for await (const _chunk of bytes as AsyncIterable<Uint8Array>);
    throw new Failure('unavailable', 'The database cannot be reached.');
  };
  const lines = openDoor(store, port, { deliver, noteMs: 300 });
  await untilSaid(lines, 'the door is open');
  const smtp = await aTransaction(port, ADDRESS);
  await smtp.ask('DATA');
  expect(await smtp.ask('Subject: x\r\n\r\nx\r\n.')).toMatch(/^4/);
  const findFault = async () => (await listDoors(store.db))[0]?.fault;
  while ((await findFault()) !== 'The database cannot be reached.') await sleep(5);
  while ((await findFault()) !== null) await sleep(5);
});

describe('a certificate', () => {
  const HOST = 'mx.plumbline.example';
  const own = aCertificate(HOST);

  test.each([
    ['that is not there', undefined, own.key, /cert\.pem cannot be read: there is no such file/],
    ['that is none', 'x', own.key, /cert\.pem is no certificate in PEM/],
    [
      'with a key that is none',
      own.cert,
      'x',
      /key\.pem is no private key in PEM\. An encrypted one/,
    ],
    [
      'with another key',
      own.cert,
      aCertificate(HOST).key,
      /key\.pem is not the key of .*cert\.pem/,
    ],
  ])(
    '%s leaves the door closed, and is named with what is wrong',
    async (_what, cert, key, words) => {
      const store = await aStore();
      const certificate = await writeFiles({ cert, key });
      const lines = openDoor(store, await aFreePort(), { certificate });
      await untilSaid(lines, 'The door is closed');
      expect(lines.join()).toMatch(words);
      expect(await readError(store)).toMatch(words);
    },
  );

  test('that has expired leaves the door open, and is named until it is renewed', async () => {
    const store = await aStore();
    const files = await writeFiles(aCertificate(HOST, 2021));
    const lines = openDoor(store, await aFreePort(), { certificate: files });
    await untilSaid(lines, 'the door is open');
    await untilSaid(lines, 'expired on 2021-12-31: renew it');
    while (!(await readError(store))?.includes('expired on 2021-12-31')) await sleep(5);
    expect(lines.filter((line) => line.includes('expired'))).toHaveLength(1);
  });

  test('whose renewal cannot be used was named in the log alone, until a right one came', async () => {
    const store = await aStore();
    const files = await writeFiles(own);
    const lines = openDoor(store, await aFreePort(), { certificate: files });
    await untilSaid(lines, 'the door is open');
    const renew = async (key: string) => {
      await writeFile(`${files.keyFile}.new`, key);
      await rename(`${files.keyFile}.new`, files.keyFile);
      await sleep(20);
    };
    const other = aCertificate(HOST).key;
    while (!(await readError(store))?.startsWith('The former certificate is used: '))
      await renew(other);
    expect(await readError(store)).toMatch(/key\.pem is not the key of .*cert\.pem/);
    while ((await readError(store)) !== null) await renew(own.key);
    // What is noted again and again is logged once.
    expect(lines.filter((line) => line.includes('former certificate'))).toHaveLength(1);
  }, 120_000);

  async function writeFiles(given: { cert: string | undefined; key: string }) {
    const folder = await aFolder();
    const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
    if (given.cert !== undefined) await writeFile(files.certFile, given.cert);
    await writeFile(files.keyFile, given.key);
    return files;
  }

  async function readError({ db }: Store): Promise<string | null | undefined> {
    const row = await db.selectFrom('door_state').select('last_error').executeTakeFirst();
    return row?.last_error;
  }
});
