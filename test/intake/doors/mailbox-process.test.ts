import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { readMailboxApart } from '../../../src/intake/doors/imap/mailbox-process.ts';
import type { ImapOptions } from '../../../src/intake/doors/imap/options.ts';
import { MemoryInbox } from '../../support/imap-door.ts';
import { isProcess, listChildren, moduleOf } from '../../support/processes.ts';
import { aScriptedImap, flood, optionsOfScripted } from '../../support/scripted-imap.ts';

const PATIENT = { timeout: 30_000, interval: 50 };
const QUICK = { firstRetryMs: 50, resultsMs: 20, stopMs: 300 };

function aMailboxProcess(options: ImapOptions, inbox = new MemoryInbox()) {
  const before = new Set(listChildren(process.pid));
  const stopping = new AbortController();
  const log = { info: () => {}, warn: () => {}, error: () => {} } as never;
  const given = { ...inbox.toGiven(), now: () => new Date(), log };
  const reading = readMailboxApart(options, given, stopping.signal);
  const stop = async () => {
    stopping.abort();
    await reading;
  };
  onTestFinished(stop);
  const listPids = () => listChildren(process.pid).filter((pid) => !before.has(pid));
  return { inbox, stop, listPids };
}

test('A process that reads a mailbox has mails stored and moved, and ends when it is told to', async () => {
  const server = await aScriptedImap();
  server.add(60);
  const options = {
    ...optionsOfScripted(server, { limits: QUICK }),
    credentials: { password: 'x' },
  };
  const { inbox, stop, listPids } = aMailboxProcess(options);
  await expect.poll(() => server.folders.get('Processed')?.length, PATIENT).toBe(60);
  expect(inbox.mails.get(`imap:reports@127.0.0.1:${server.port}/INBOX:7:1`)).toMatch(
    /report 1\r\n/,
  );
  expect(inbox.notes).toEqual([undefined]);
  await stop();
  expect(listPids()).toEqual([]);
});

test('A process that is killed is told of, and the next one reads on', async () => {
  const server = await aScriptedImap();
  const options = {
    ...optionsOfScripted(server, { limits: QUICK }),
    credentials: { password: 'x' },
  };
  const { inbox, listPids } = aMailboxProcess(options);
  await expect.poll(() => inbox.notes, PATIENT).toEqual([undefined]);
  for (const pid of listPids()) process.kill(pid, 'SIGKILL');
  await expect
    .poll(() => inbox.notes.join(), PATIENT)
    .toMatch(/process that reads the mailbox ended/);
  server.add(2);
  await expect.poll(() => inbox.mails.size, PATIENT).toBe(2);
});

test('A process that a server keeps busy is ended, which is told, and the next one reads on', async () => {
  let isFlooding = true;
  const server = await aScriptedImap({
    on: ({ name }, socket) => {
      if (name === 'LOGIN' && isFlooding) flood(socket, '* 1 FETCH\r\n');
      return undefined;
    },
  });
  const limits = { ...QUICK, maxRetryMs: 50, maxCpuMs: 300 };
  const options = {
    ...optionsOfScripted(server, { limits }),
    credentials: { password: 'x' },
  };
  const { inbox } = aMailboxProcess(options);
  await expect.poll(() => inbox.notes.join(), PATIENT).toContain('the server keeps it busy');
  isFlooding = false;
  server.add(1);
  await expect.poll(() => inbox.mails.size, PATIENT).toBe(1);
});

test('Wrong credentials and a password file that is missing are told of by the process that has the store', async () => {
  const server = await aScriptedImap({
    on: ({ name }) => (name === 'LOGIN' ? 'NO [AUTHENTICATIONFAILED] Wrong' : undefined),
  });
  const options = optionsOfScripted(server, { limits: QUICK });
  const wrong = aMailboxProcess({ ...options, credentials: { password: 'x' } });
  await expect
    .poll(() => wrong.inbox.notes.join(), PATIENT)
    .toMatch(/^The server refuses the user/);
  const missing = aMailboxProcess({ ...options, credentials: { passwordFile: '/nowhere' } });
  await expect
    .poll(() => missing.inbox.notes.join(), PATIENT)
    .toMatch(/^The password file cannot be read/);
});

test('A process that a server floods ends soon after the process that started it is killed', async () => {
  const server = await aScriptedImap({
    on: ({ name }, socket) => {
      if (name === 'LOGIN') flood(socket, '* 1 FETCH\r\n');
      return undefined;
    },
  });
  const options = { ...optionsOfScripted(server), credentials: { password: 'x' } };
  const nothing = 'async () => undefined';
  const parent = spawn(
    process.execPath,
    moduleOf(`
      import { readMailboxApart } from 'src/intake/doors/imap/mailbox-process.ts';
      const log = { info: () => {}, warn: () => {}, error: () => {} };
      const given = { deliver: ${nothing}, noteDoor: ${nothing}, findCheckpoint: ${nothing}, log };
      await readMailboxApart(${JSON.stringify(options)}, given, new AbortController().signal);
    `),
    { stdio: 'ignore' },
  );
  onTestFinished(() => void parent.kill('SIGKILL'));
  await expect.poll(() => server.commands.length, PATIENT).toBeGreaterThan(0);
  const children = listChildren(parent.pid ?? 0);
  expect(children).toHaveLength(1);
  const ended = once(parent, 'exit');
  parent.kill('SIGKILL');
  await ended;
  await expect.poll(() => children.filter(isProcess), PATIENT).toEqual([]);
});
