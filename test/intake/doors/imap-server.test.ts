import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { anImapDoor, MemoryInbox } from '../../support/imap-door.ts';
import { aScriptedImap, flood, optionsOfScripted } from '../../support/scripted-imap.ts';

/* Servers that refuse, interrupt, flood, or end connections. */

const listPaths = ({ commands }: Awaited<ReturnType<typeof aScriptedImap>>, wanted: string) =>
  commands.filter(({ name }) => name === wanted).map(({ args }) => args.replaceAll('"', ''));

test('new mails are read when the server refuses to move those before, and all are moved when it does not any more', async () => {
  let isFull = true;
  const server = await aScriptedImap({
    on: ({ name }) => (isFull && name === 'UID MOVE' ? 'NO [OVERQUOTA] Over the quota' : undefined),
  });
  server.add(30);
  const limits = { refileMs: 300, idleMs: 200 };
  const { inbox } = anImapDoor(optionsOfScripted(server, { limits }));
  await expect
    .poll(() => inbox.notes.at(-1))
    .toBe('Mails are read, but the server does not move mails to Processed: Over the quota.');
  server.add(30);
  await expect.poll(() => inbox.mails.size).toBe(60);
  isFull = false;
  await expect.poll(() => server.folders.get('Processed')?.length).toBe(60);
  await expect.poll(() => inbox.notes.at(-1)).toBe(undefined);
  expect(inbox.again).toBe(0);
});

test('outcomes of many mails that wait are asked for more seldom than those of a few', async () => {
  const server = await aScriptedImap({});
  server.add(500);
  let isRead = false;
  let asked = 0;
  const inbox = new MemoryInbox();
  inbox.toResult = () => {
    asked += 1;
    return isRead ? 'processed' : 'waiting';
  };
  anImapDoor(optionsOfScripted(server, { limits: { idleMs: 200 } }), inbox);
  await expect.poll(() => inbox.mails.size).toBe(500);
  // A look at the outcomes comes every 20 ms, and asks for none that it has asked for in the last 250.
  const begunMs = performance.now();
  await sleep(500);
  expect(asked).toBeLessThanOrEqual(500 * (2 + (performance.now() - begunMs) / 250));
  isRead = true;
  await expect.poll(() => server.folders.get('Processed')?.length).toBe(500);
});

test('mails that the server says it moved, and did not, are moved', async () => {
  const server = await aScriptedImap({
    on: ({ name }) => {
      const isFirst = name === 'UID MOVE' && listPaths(server, name).length === 1;
      return isFirst ? 'OK None moved' : undefined;
    },
  });
  server.add(5);
  const { inbox } = anImapDoor(optionsOfScripted(server));
  await expect.poll(() => server.folders.get('Processed')?.length).toBe(5);
  expect(server.mails.size).toBe(0);
  expect(inbox.notes).toEqual([undefined]);
});

test('a server that says it moves mails, and never does, is told of, and asked again later', async () => {
  const server = await aScriptedImap({
    on: ({ name }) => (name === 'UID MOVE' ? 'OK None moved' : undefined),
  });
  server.add(40);
  const limits = { idleMs: 200 };
  const { inbox } = anImapDoor(optionsOfScripted(server, { limits }));
  await expect
    .poll(() => inbox.notes.at(-1))
    .toBe('Mails are read, but the server does not move mails to Processed.');
  const moves = listPaths(server, 'UID MOVE').length;
  server.add(1);
  await expect.poll(() => inbox.mails.size).toBe(41);
  expect(listPaths(server, 'UID MOVE')).toHaveLength(moves);
});

test('mails that the server refused to move are moved by the next process', async () => {
  let isLasting = true;
  const server = await aScriptedImap({
    on: ({ name }) => (isLasting && name === 'UID MOVE' ? 'NO Permission denied' : undefined),
  });
  server.add(5);
  const first = anImapDoor(optionsOfScripted(server));
  await expect.poll(() => first.inbox.notes.at(-1)).toMatch(/: Permission denied\.$/);
  await first.stop();
  isLasting = false;
  anImapDoor(optionsOfScripted(server), first.inbox);
  await expect.poll(() => server.folders.get('Processed')?.length).toBe(5);
});

test('a refused CREATE of a missing folder is told in the words of the server', async () => {
  const server = await aScriptedImap({
    on: ({ name }) => {
      if (name === 'UID MOVE') return 'NO [TRYCREATE] No such folder';
      return name === 'CREATE' ? 'NO You may not make folders' : undefined;
    },
  });
  server.add(1);
  const { inbox } = anImapDoor(optionsOfScripted(server));
  await expect.poll(() => inbox.notes.at(-1)).toMatch(/: You may not make folders\.$/);
});

test('one mail that the server refuses to move does not keep the others', async () => {
  const server = await aScriptedImap({
    on: ({ name, args }) =>
      name === 'UID MOVE' && /\b2\b/.test(args.split(' ')[0] ?? '') ? 'NO Broken mail' : undefined,
  });
  server.add(4);
  const { inbox, lines } = anImapDoor(optionsOfScripted(server));
  await expect.poll(() => server.folders.get('Processed')?.length).toBe(3);
  await expect.poll(() => lines.join('\n')).toMatch(/Mail 2 of INBOX: .*Broken mail/);
  await expect.poll(() => inbox.notes.at(-1)).toBe(undefined);
});

test('a mail whose text is NIL was tried without end: it is given up, rejected and named, and later mails are read', async () => {
  const server = await aScriptedImap({ withoutText: [2] });
  server.add(4);
  const { inbox, lines } = anImapDoor(optionsOfScripted(server));
  await expect.poll(() => server.folders.get('Processed')?.length).toBe(3);
  await expect.poll(() => server.folders.get('Rejected')).toHaveLength(1);
  expect(inbox.mails.size).toBe(3);
  expect(lines.join('\n')).toContain('Mail 2 of INBOX is given up and rejected');
  await expect.poll(() => inbox.notes.at(-1)).toBe(undefined);
  const alone = listPaths(server, 'UID FETCH').filter((args) => /^2 .*BODY/.test(args));
  expect(alone).toHaveLength(3);
});

test('a server that throttled was waited for in silence: the door says what it waits for, and blames no mail', async () => {
  let left = 8;
  const server = await aScriptedImap({
    on: ({ name, args }) => {
      if (name !== 'UID FETCH' || !args.includes('BODY') || left === 0) return undefined;
      left -= 1;
      return 'BAD Request is throttled. Suggested Backoff Time: 92415 milliseconds';
    },
  });
  server.add(1);
  const { inbox, lines } = anImapDoor(optionsOfScripted(server, { limits: { maxPauseMs: 20 } }));
  const told = 'The server throttles: it asks for a pause of 93 s, which is waited for.';
  await expect.poll(() => inbox.notes[0]).toBe(told);
  await expect.poll(() => server.folders.get('Processed')?.length).toBe(1);
  expect(lines).toContain(`imap: ${told}`);
  await expect.poll(() => inbox.notes.at(-1)).toBe(undefined);
});

test('mails are read when the server tells of a flag before it answers', async () => {
  const server = await aScriptedImap({
    on: ({ name }, socket) => {
      if (name === 'UID FETCH') socket.write('* 362 FETCH (FLAGS (\\Flagged))\r\n');
      return undefined;
    },
  });
  server.add(3);
  const { inbox } = anImapDoor(optionsOfScripted(server));
  await expect.poll(() => inbox.mails.size).toBe(3);
  server.mails.set(5_000, 'Subject: far\r\n\r\nfar\r\n');
  for (const socket of server.sockets) socket.write('* 4 EXISTS\r\n');
  await expect.poll(() => inbox.mails.size).toBe(4);
});

test.each([
  ['that has the highest UID there is', [1, 2 ** 32 - 1]],
  ['with UIDs far from one another', [1, 7_000, 3_000_000, 3_000_001, 4_000_000_000]],
])('a mailbox %s takes few commands', async (_what, uids) => {
  const server = await aScriptedImap();
  for (const uid of uids) server.mails.set(uid, `Subject: ${uid}\r\n\r\ntext\r\n`);
  const { inbox } = anImapDoor(optionsOfScripted(server, { done: 'leave' }));
  await expect.poll(() => inbox.mails.size).toBe(uids.length);
  await expect.poll(() => inbox.notes.length).toBeGreaterThan(0);
  expect(server.commands.length).toBeLessThan(40);
});

test('mails that come between two windows of a list are read', async () => {
  const server = await aScriptedImap({
    on: ({ name, args }, socket) => {
      // Seven mails are listed in the first window of ten. Then there are mails on both sides of its end.
      if (name !== 'UID FETCH' || !args.includes('BODY') || server.mails.size !== 7)
        return undefined;
      server.add(8);
      socket.write('* 15 EXISTS\r\n');
      return undefined;
    },
  });
  server.add(7);
  const limits = { windowUids: 10 };
  const { inbox } = anImapDoor(optionsOfScripted(server, { limits, done: 'leave' }));
  await expect.poll(() => inbox.mails.size).toBe(15);
});

test('a flag of a mail that came while mails are listed does not hide those before it', async () => {
  const server = await aScriptedImap({
    on: ({ name, args }, socket) => {
      if (name !== 'UID FETCH' || args.includes('BODY') || server.mails.size !== 7)
        return undefined;
      const lines = [...server.mails.keys()].map(
        (uid) => `* ${uid} FETCH (UID ${uid} RFC822.SIZE 9)`,
      );
      server.add(3);
      socket.write(
        `${lines.join('\r\n')}\r\n* 10 EXISTS\r\n* 9 FETCH (UID 9 FLAGS (\\Flagged))\r\n`,
      );
      return 'OK';
    },
  });
  server.add(7);
  const { inbox } = anImapDoor(optionsOfScripted(server, { done: 'leave' }));
  await expect.poll(() => inbox.mails.size).toBe(10);
});

test.each([
  ['LOGIN', '* OK still busy\r\n'],
  ['UID FETCH', '* 1 FETCH\r\n'],
  ['IDLE', '* 1 FETCH (FLAGS ())\r\n'],
])('a server that floods %s with %j loses the connection soon', async (during, line) => {
  const server = await aScriptedImap({
    on: ({ name }, socket) => {
      if (name === during) flood(socket, line);
      return undefined;
    },
  });
  server.add(1);
  const { inbox } = anImapDoor(optionsOfScripted(server, { done: 'leave' }));
  await expect.poll(() => inbox.notes.at(-1)).toMatch(/more than it was asked for/);
});

test('a server that never comes to the end of its answer loses the connection', async () => {
  const server = await aScriptedImap({
    on: ({ name }, socket) => {
      if (name !== 'UID FETCH') return undefined;
      const saying = setInterval(() => socket.write('* OK wait\r\n'), 50);
      socket.once('close', () => clearInterval(saying));
      socket.pause();
      return 'OK';
    },
  });
  server.add(1);
  const limits = { commandMs: 300, idleMs: 100 };
  const { inbox } = anImapDoor(optionsOfScripted(server, { limits }));
  await expect.poll(() => inbox.notes.at(-1)).toMatch(/does not come to the end/);
});

test.each([
  ['Shared/dmarc', '(("INBOX." ".")) (("user." ".")) (("Shared/" "/"))', ['Shared/dmarc']],
  ['dmarc', '(("INBOX." ".")) NIL NIL', ['INBOX.dmarc']],
  ['INBOX.dmarc', '(("INBOX." ".")) NIL NIL', ['INBOX.dmarc']],
])(
  'the mailbox %s with the namespaces %s is opened by its name',
  async (mailbox, namespace, paths) => {
    const server = await aScriptedImap({ namespace });
    server.add(1);
    const { inbox } = anImapDoor(optionsOfScripted(server, { mailbox, done: 'leave' }));
    await expect.poll(() => inbox.mails.size).toBe(1);
    expect(listPaths(server, 'EXAMINE')).toEqual(paths);
  },
);

test('a mailbox that cannot be opened is told of with the names that were asked for', async () => {
  const server = await aScriptedImap({
    namespace: '(("INBOX." ".")) NIL (("" "."))',
    on: ({ name }) => (name === 'SELECT' ? 'NO Mailbox does not exist' : undefined),
  });
  const { inbox } = anImapDoor(optionsOfScripted(server, { mailbox: 'dmarc' }));
  await expect
    .poll(() => inbox.notes.at(-1))
    .toBe(
      'The server does not open the mailbox INBOX.dmarc (Mailbox does not exist), nor dmarc (Mailbox does not exist).',
    );
});

test('a server that ends each connection after eight commands lets all mails through', async () => {
  const server = await aScriptedImap({ commands: 8, hidesCapabilities: true });
  server.add(230);
  const { inbox } = anImapDoor(optionsOfScripted(server));
  await expect.poll(() => inbox.mails.size).toBe(230);
  await expect.poll(() => server.folders.get('Processed')?.length).toBe(230);
  expect(inbox.again).toBe(0);
  // None of them was fetched alone.
  expect(listPaths(server, 'UID FETCH').filter((args) => /^\d+ /.test(args))).toEqual([]);
});

test('a server without MOVE and UIDPLUS gets flags, and the door says so', async () => {
  const server = await aScriptedImap({ capabilities: 'IDLE' });
  server.add(2);
  const { inbox } = anImapDoor(optionsOfScripted(server));
  await expect.poll(() => server.seen.size).toBe(2);
  await expect.poll(() => inbox.notes.at(-1)).toMatch(/^Mails are flagged and not moved/);
});

test('mails that are moved to Processed have been seen, and the server is told who reads them', async () => {
  const server = await aScriptedImap();
  server.add(2);
  anImapDoor(optionsOfScripted(server));
  await expect.poll(() => server.folders.get('Processed')?.length).toBe(2);
  expect([...server.seen]).toEqual([1, 2]);
  expect(listPaths(server, 'ID')).toEqual([
    expect.stringMatching(/^\(name Plumbline version \d+\.\d+\.\d+(?:-dev)?\)$/),
  ]);
});
