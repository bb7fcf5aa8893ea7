import { expect, test } from 'vitest';
import { anImapDoor } from '../support/imap-door.ts';
import { aCyrus, optionsOfCyrus, toAppend } from './cyrus.ts';

const PATIENT = { timeout: 280_000, interval: 100 };

const appends = (folder: string, count: number, text = 'report') =>
  Array.from({ length: count }, (_, i) => toAppend(folder, `${text} ${i}`));

/** How many mails a folder has. */
async function count(server: Awaited<ReturnType<typeof aCyrus>>, folder: string): Promise<number> {
  const said = await server.ask('reports', `STATUS ${folder} (MESSAGES)`);
  return Number(/MESSAGES (\d+)/.exec(said)?.[1]);
}

test('mails are read while the right to put them into Processed is missing, and moved when it is given', async () => {
  const server = await aCyrus();
  await server.ask('admin', 'CREATE user.reports.Processed');
  await server.ask('admin', 'SETACL user.reports.Processed reports lr');
  await server.ask('reports', ...appends('INBOX', 30));
  const limits = { refileMs: 1_000, idleMs: 500 };
  const { inbox } = anImapDoor(optionsOfCyrus(server, { limits }));
  await expect
    .poll(() => inbox.notes.at(-1), PATIENT)
    .toMatch(/^Mails are read, but the server does not move mails to Processed: Permission denied/);
  await server.ask('reports', ...appends('INBOX', 30, 'report later'));
  await expect.poll(() => inbox.mails.size, PATIENT).toBe(60);
  await server.ask('admin', 'SETACL user.reports.Processed reports lrswipte');
  await expect.poll(() => count(server, 'Processed'), PATIENT).toBe(60);
  await expect.poll(() => inbox.notes.at(-1), PATIENT).toBe(undefined);
  // A MOVE copies all its mails before it removes the first one.
  await expect.poll(() => count(server, 'INBOX'), PATIENT).toBe(0);
});

test('mails are read while Processed is over its quota', async () => {
  const server = await aCyrus();
  await server.ask('admin', 'CREATE user.reports.Processed');
  await server.ask('admin', 'SETQUOTA user.reports.Processed (STORAGE 0)');
  await server.ask('reports', ...appends('INBOX', 5));
  const { inbox } = anImapDoor(optionsOfCyrus(server, { limits: { idleMs: 500 } }));
  await expect.poll(() => inbox.notes.at(-1), PATIENT).toMatch(/Processed: Over quota/);
  await server.ask('reports', ...appends('INBOX', 5, 'report later'));
  await expect.poll(() => inbox.mails.size, PATIENT).toBe(10);
});

test('all mails are read while another client flags them', async () => {
  const server = await aCyrus();
  await server.ask('reports', ...appends('INBOX', 40));
  const limits = { idleMs: 300, windowUids: 10 };
  const { inbox } = anImapDoor(optionsOfCyrus(server, { limits, done: 'leave' }));
  for (let round = 0; round < 5; round += 1) {
    const flag = round % 2 === 0 ? '+FLAGS' : '-FLAGS';
    await server.ask('reports', 'SELECT INBOX', `UID STORE 1:* ${flag} (\\Flagged)`);
    await server.ask('reports', ...appends('INBOX', 20, `report ${round}`));
  }
  await expect.poll(() => inbox.mails.size, PATIENT).toBe(140);
  expect(inbox.notes.at(-1)).toBe(undefined);
});

test('the mailbox of another user is read, and its mails are moved to the own folder', async () => {
  const server = await aCyrus();
  await server.ask('admin', 'CREATE user.shared', 'SETACL user.shared reports lrswipte');
  await server.ask('reports', ...appends('"Other Users.shared"', 3));
  const { inbox } = anImapDoor(optionsOfCyrus(server, { mailbox: 'Other Users.shared' }));
  await expect.poll(() => inbox.mails.size, PATIENT).toBe(3);
  await expect.poll(() => count(server, '"Other Users.shared"'), PATIENT).toBe(0);
  await expect.poll(() => count(server, 'Processed'), PATIENT).toBe(3);
});
