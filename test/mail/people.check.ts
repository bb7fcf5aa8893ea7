import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { aCommand, finish, printed } from '../support/command.ts';
import { aReportMail } from '../support/inbox.ts';
import { aDovecot, optionsOf } from './dovecot.ts';
import { PEOPLES_MAILS } from './people-mails.ts';

const PATIENT = { timeout: 120_000, interval: 200 };

test('Fifty mails of people stay in the mailbox as they were, unread, and nothing of them is stored', async () => {
  const imap = await aDovecot();
  const { credentials, user } = optionsOf(imap);
  const command = await aCommand({
    PLUMBLINE_IMAP_URL: `imap://${user}@127.0.0.1:${imap.ports.imap}/INBOX`,
    PLUMBLINE_IMAP_PASSWORD: credentials.password,
    PLUMBLINE_MAIL_VERIFICATION: 'off',
    PLUMBLINE_LOG_LEVEL: 'warn',
  });
  expect(PEOPLES_MAILS).toHaveLength(50);
  await imap.add(PEOPLES_MAILS);
  await imap.add([aReportMail('last')]);
  const server = command.start('serve');
  const ended = finish(server);
  await printed(server, /listens on/);
  const list = () => command.json('inbox', 'list', '--limit', '200');
  const countDone = async () =>
    (await list()).filter(({ state }: { state: string }) => state === 'done').length;
  await expect.poll(countDone, PATIENT).toBe(51);
  await expect.poll(() => imap.count('.Processed'), PATIENT).toBe(1);
  server.kill('SIGTERM');
  expect((await ended).status).toBe(0);

  const left = await Promise.all((await imap.list()).map((path) => readFile(path, 'latin1')));
  expect(left.sort()).toEqual(PEOPLES_MAILS.map((mail) => mail.toString('latin1')).sort());
  const places = { rejected: await imap.count('.Rejected'), seen: await imap.count('', 'S') };
  expect({ ...places, flagged: await imap.count('', 'F') }).toEqual({
    rejected: 0,
    seen: 0,
    flagged: 0,
  });
  const stored = await command.withDb((db) =>
    db.selectFrom('document').select('input_name').execute(),
  );
  expect(stored).toHaveLength(1);
});
