import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { listDoors } from '../../src/store/inbox/doors.ts';
import { aCommand, finish, printed } from '../support/command.ts';
import { aReportMail } from '../support/inbox.ts';
import { aDovecot, optionsOf } from './dovecot.ts';

/** A claim or a lease of a process that was killed lasts up to two minutes. */
const PATIENT = { timeout: 200_000, interval: 500 };
const ADDRESS = 'dmarc@mx.plumbline.example';

test('A server that is killed and started again has every mail of both doors, once', async () => {
  const imap = await aDovecot();
  const { credentials, user } = optionsOf(imap);
  const smtpPort = await findFreePort();
  const command = await aCommand({
    PLUMBLINE_SMTP_PORT: String(smtpPort),
    PLUMBLINE_SMTP_HOST: '127.0.0.1',
    PLUMBLINE_SMTP_NAME: 'mx.plumbline.example',
    PLUMBLINE_REPORT_ADDRESS: ADDRESS,
    PLUMBLINE_IMAP_URL: `imap://${user}@127.0.0.1:${imap.ports.imap}/INBOX`,
    PLUMBLINE_IMAP_PASSWORD: credentials.password,
    PLUMBLINE_LOG_LEVEL: 'warn',
  });
  await command.json('account', 'create', 'A');
  await command.json('domain', 'add', 'A', 'example.com');
  const transport = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true });
  const send = async (id: string) => {
    const envelope = { from: 'noreply@reporter.example', to: [ADDRESS] };
    const raw = aReportMail(id);
    await expect
      .poll(
        () =>
          transport.sendMail({ envelope, raw }).then(
            () => 'sent',
            () => 'not',
          ),
        PATIENT,
      )
      .toBe('sent');
  };
  for (let round = 0; round < 3; round += 1) {
    await imap.add(Array.from({ length: 20 }, (_, i) => aReportMail(`imap-${round}-${i}`)));
    const server = command.start('serve');
    const ended = finish(server);
    await printed(server, /listens on/);
    for (let i = 0; i < 10; i += 1) await send(`smtp-${round}-${i}`);
    server.kill('SIGKILL');
    await ended;
  }
  const server = command.start('serve');
  const ended = finish(server);
  await expect.poll(() => imap.count('.Processed'), PATIENT).toBe(60);
  await expect
    .poll(() => command.json('inbox', 'list', '--limit', '200').then(countDone), PATIENT)
    .toBe(90);
  server.kill('SIGTERM');
  expect((await ended).status).toBe(0);
  const count = await command.withDb((db) =>
    db
      .selectFrom('report')
      .select((eb) => eb.fn.countAll().as('n'))
      .executeTakeFirstOrThrow(),
  );
  expect(Number(count.n)).toBe(90);
});

test('Each of several mailboxes is read by a door of its own, and one that fails stops no other', async () => {
  const servers = [await aDovecot(), await aDovecot()] as const;
  const toEnv = (server: (typeof servers)[number], end: string, password: string) => ({
    [`PLUMBLINE_IMAP_URL${end}`]: `imap://${optionsOf(server).user}@127.0.0.1:${server.ports.imap}/INBOX`,
    [`PLUMBLINE_IMAP_PASSWORD${end}`]: password,
  });
  const password = optionsOf(servers[0]).credentials.password ?? '';
  const command = await aCommand({
    ...toEnv(servers[0], '', password),
    ...toEnv(servers[1], '_2', password),
    PLUMBLINE_IMAP_URL_3: `imap://nobody@127.0.0.1:${servers[1].ports.imap}/INBOX`,
    PLUMBLINE_IMAP_PASSWORD_3: 'wrong',
    PLUMBLINE_LOG_LEVEL: 'warn',
  });
  for (const [i, server] of servers.entries())
    await server.add([aReportMail(`first-${i}`), aReportMail(`second-${i}`)]);
  const server = command.start('serve');
  const ended = finish(server);
  for (const { count } of servers.map((one) => ({ count: () => one.count('.Processed') })))
    await expect.poll(count, PATIENT).toBe(2);
  const listFaults = () =>
    command.withDb(async (db) => (await listDoors(db)).map(({ door, fault }) => [door, fault]));
  await expect.poll(listFaults, PATIENT).toEqual([
    ['imap', null],
    ['imap:2', null],
    ['imap:3', expect.stringMatching(/refuses the user or the credentials/)],
  ]);
  server.kill('SIGTERM');
  expect((await ended).status).toBe(0);
});

/** How many mails were read, of those that `inbox list --json` prints. */
const countDone = (mails: readonly { readonly state: string }[]): number =>
  mails.filter(({ state }) => state === 'done').length;
