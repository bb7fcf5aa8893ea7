import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { aCertificate } from '../support/certificate.ts';
import { PATIENCE_MS } from '../support/every-suite.ts';
import { anImapDoor, MemoryInbox } from '../support/imap-door.ts';
import { aDovecot, optionsOf } from './dovecot.ts';
import { anUnreliableNetwork } from './unreliable-network.ts';

const PATIENT = { timeout: PATIENCE_MS, interval: 50 };

const mailOf = (text: string) => `From: a@reporter.example\r\nSubject: ${text}\r\n\r\n${text}\r\n`;
const mails = (count: number, kind = 'report') =>
  Array.from({ length: count }, (_, i) => mailOf(`${kind} ${i}`));

/** The kind of each mail says what becomes of it. */
function aSharedInbox(): MemoryInbox {
  const inbox = new MemoryInbox();
  inbox.toResult = (text) => {
    if (text.includes('Subject: report')) return 'processed';
    return text.includes('Subject: broken') ? 'rejected' : 'ignored';
  };
  return inbox;
}

/** Ends the connections after each of the first checkpoints. */
function breakAtCheckpoints(
  inbox: MemoryInbox,
  network: Awaited<ReturnType<typeof anUnreliableNetwork>>,
  times: number,
): void {
  const given = inbox.toGiven();
  let count = 0;
  const updateCheckpoint = async (door: string, text: string) => {
    await given.updateCheckpoint(door, text);
    count += 1;
    if (count > times) return;
    network.breakAll();
    await sleep(100);
  };
  inbox.toGiven = () => ({ ...given, updateCheckpoint });
}

describe('a mailbox', () => {
  test('is read, mails that come later too, and done mails are moved to folders that the door makes', async () => {
    const server = await aDovecot();
    await server.add([...mails(5), ...mails(2, 'broken')]);
    const { inbox } = anImapDoor(optionsOf(server), aSharedInbox());
    await expect.poll(() => server.count('.Processed'), PATIENT).toBe(5);
    await server.add(mails(3, 'report later'));
    await expect.poll(() => server.count('.Processed'), PATIENT).toBe(8);
    await expect.poll(() => server.count('.Rejected'), PATIENT).toBe(2);
    await expect.poll(() => server.count(), PATIENT).toBe(0);
    expect([...inbox.mails.values()].sort()).toEqual(
      [...mails(5), ...mails(2, 'broken'), ...mails(3, 'report later')].sort(),
    );
    expect(inbox.notes).toEqual([undefined]);
  });

  test('shared with people keeps their mail as it was, and reads it once', async () => {
    const server = await aDovecot();
    await server.add([...mails(3), ...mails(20, 'lunch')]);
    const first = anImapDoor(optionsOf(server), aSharedInbox());
    await expect.poll(() => server.count('.Processed'), PATIENT).toBe(3);
    await first.stop();
    const second = anImapDoor(optionsOf(server), first.inbox);
    await server.add(mails(1, 'report last'));
    await expect.poll(() => server.count('.Processed'), PATIENT).toBe(4);
    await second.stop();
    expect(await server.count()).toBe(20);
    expect(await server.count('', 'S')).toBe(0);
    expect(await server.count('', 'F')).toBe(0);
    expect(first.inbox.mails.size).toBe(24);
    expect(first.inbox.again).toBe(0);
  });

  test.each([
    ['flag', { seen: 4, flagged: 1 }],
    ['leave', { seen: 0, flagged: 0 }],
  ] as const)('with done mails to %s keeps them', async (done, { seen, flagged }) => {
    const server = await aDovecot();
    await server.add([...mails(3), ...mails(1, 'broken'), ...mails(2, 'lunch')]);
    const { inbox, stop } = anImapDoor(optionsOf(server, { done }), aSharedInbox());
    await expect.poll(() => inbox.mails.size, PATIENT).toBe(6);
    await expect.poll(() => server.count('', 'S'), PATIENT).toBe(seen);
    await expect.poll(() => server.count('', 'F'), PATIENT).toBe(flagged);
    await stop();
    const again = anImapDoor(optionsOf(server, { done }), inbox);
    await expect.poll(() => inbox.notes.length, PATIENT).toBe(1);
    await again.stop();
    expect(await server.count()).toBe(6);
    expect(inbox.again).toBe(0);
  });

  test('is read whole when the connection ends between two windows of it', async () => {
    const server = await aDovecot();
    await server.add(mails(40));
    const network = await anUnreliableNetwork(server.ports.imaps);
    const inbox = aSharedInbox();
    breakAtCheckpoints(inbox, network, 5);
    anImapDoor(optionsOf(server, { port: network.port, limits: { windowUids: 5 } }), inbox);
    await expect.poll(() => server.count('.Processed'), PATIENT).toBe(40);
    expect(inbox.mails.size).toBe(40);
  });

  test('whose mails were read before is filed whole when the connection ends after a part of it', async () => {
    const server = await aDovecot();
    await server.add(mails(40));
    const network = await anUnreliableNetwork(server.ports.imaps);
    const options = optionsOf(server, { port: network.port, limits: { windowUids: 5 } });
    const inbox = aSharedInbox();
    inbox.toResult = () => 'waiting';
    const first = anImapDoor(options, inbox);
    await expect.poll(() => inbox.mails.size, PATIENT).toBe(40);
    await first.stop();

    inbox.toResult = () => 'processed';
    breakAtCheckpoints(inbox, network, 3);
    anImapDoor(options, inbox);
    await expect.poll(() => server.count('.Processed'), PATIENT).toBe(40);
    // A MOVE copies all its mails before it removes the first one.
    await expect.poll(() => server.count(), PATIENT).toBe(0);
  });

  test('whose mails get new UIDs is read again from its beginning', async () => {
    const server = await aDovecot();
    await server.add(mails(4, 'lunch'));
    const { inbox } = anImapDoor(optionsOf(server), aSharedInbox());
    await expect.poll(() => inbox.mails.size, PATIENT).toBe(4);
    await server.renumber();
    await expect.poll(() => inbox.mails.size, PATIENT).toBe(8);
    expect(new Set(inbox.mails.values()).size).toBe(4);
  });

  test('with a mail that is too large reads those behind it, and leaves that one', async () => {
    const server = await aDovecot();
    const large = mailOf('x'.repeat(20_000));
    await server.add([mailOf('report 1')]);
    await sleep(20);
    await server.add([large]);
    await sleep(20);
    await server.add([mailOf('report 2')]);
    const { inbox, lines } = anImapDoor(optionsOf(server, { limits: { maxMailBytes: 10_000 } }));
    await expect.poll(() => inbox.mails.size, PATIENT).toBe(2);
    await expect.poll(() => server.count('.Processed'), PATIENT).toBe(2);
    // A MOVE copies all its mails before it removes the first one.
    await expect.poll(() => server.count(), PATIENT).toBe(1);
    expect(lines.join('\n')).toMatch(/Mail 2 of INBOX stays there unread: it is larger than/);
  });

  test('whose mails cannot be stored keeps them until they can be', async () => {
    const server = await aDovecot();
    await server.add(mails(10));
    const inbox = aSharedInbox();
    let failures = 0;
    inbox.beforeStore = () => {
      failures += 1;
      if (failures <= 30) throw new Error('the disk is full');
    };
    anImapDoor(optionsOf(server, { limits: { maxRetryMs: 20 } }), inbox);
    await expect.poll(() => server.count('.Processed'), PATIENT).toBe(10);
    expect(inbox.mails.size).toBe(10);
    expect(inbox.notes).toContain(
      'A mail could not be stored; it stays in the mailbox, and is read again.',
    );
  });
});

describe('a server', () => {
  test('that refuses the password is told of in words, and asked again', async () => {
    const server = await aDovecot();
    await server.add(mails(1));
    const wrong = { credentials: { password: 'wrong' } };
    const { inbox, stop } = anImapDoor(optionsOf(server, wrong));
    await expect
      .poll(() => inbox.notes, PATIENT)
      .toEqual([expect.stringMatching(/^The server refuses the user or the credentials/)]);
    await stop();
    expect(inbox.mails.size).toBe(0);
    anImapDoor(optionsOf(server), inbox);
    await expect.poll(() => inbox.notes.at(-1), PATIENT).toBe(undefined);
  });

  test('whose certificate is for another name gets no password', async () => {
    const server = await aDovecot({ certificate: aCertificate('other.example') });
    const { inbox, stop } = anImapDoor(optionsOf(server));
    await expect
      .poll(() => inbox.notes, PATIENT)
      .toEqual(["The server's certificate is not for localhost."]);
    await stop();
    expect(await server.readLog()).not.toMatch(/Login: user/);
  });

  test('whose certificate nobody vouches for gets no password', async () => {
    const server = await aDovecot();
    const { caFile: _unknown, ...options } = optionsOf(server);
    const { inbox, stop } = anImapDoor(options);
    await expect.poll(() => inbox.notes.join(), PATIENT).toMatch(/certificate is not trusted/);
    await stop();
    expect(await server.readLog()).not.toMatch(/Login: user/);
  });

  test.each([
    ['tls', 'imaps'],
    ['starttls', 'imap'],
  ] as const)(
    'whose certificate has expired gets no password (%s), until it has a new one',
    async (security, port) => {
      const server = await aDovecot({ certificate: aCertificate('localhost', 2021) });
      await server.add(mails(1));
      const options = { security, port: server.ports[port] };
      const { inbox, stop } = anImapDoor(optionsOf(server, options));
      await expect
        .poll(() => inbox.notes, PATIENT)
        .toEqual(["The server's certificate has expired."]);
      await stop();
      expect(await server.readLog()).not.toMatch(/Login: user/);

      const renewed = aCertificate('localhost');
      await server.stop();
      await server.writeCertificate(renewed);
      await server.resume();
      anImapDoor(optionsOf(server, options), inbox);
      await expect.poll(() => server.count('.Processed'), PATIENT).toBe(1);
      expect(inbox.notes.at(-1)).toBe(undefined);
    },
  );

  test('without TLS from the beginning is read after STARTTLS', async () => {
    const server = await aDovecot();
    await server.add(mails(1));
    const { ports } = server;
    anImapDoor(optionsOf(server, { port: ports.imap, security: 'starttls' }));
    await expect.poll(() => server.count('.Processed'), PATIENT).toBe(1);
    expect(await server.readLog()).toMatch(/Login: user=<reports>.*TLS/);
  });

  test('that restarts, and connections that break, cost no mail: 2,000 arrive once each', async () => {
    const server = await aDovecot();
    const network = await anUnreliableNetwork(server.ports.imaps);
    const options = optionsOf(server, { port: network.port, limits: { firstRetryMs: 500 } });
    const inbox = aSharedInbox();
    let door = anImapDoor(options, inbox);
    for (let round = 0; round < 20; round += 1) {
      await server.add(mails(100, `report ${round}`));
      await sleep(Math.random() * 150);
      network.breakAll();
      if (round % 5 === 2) {
        await server.stop();
        await server.resume();
      }
      if (round % 5 === 4) {
        await door.stop();
        door = anImapDoor(options, inbox);
      }
    }
    await expect.poll(() => inbox.mails.size, PATIENT).toBe(2_000);
    await expect.poll(() => server.count(), PATIENT).toBe(0);
    expect(new Set(inbox.mails.values()).size).toBe(2_000);
    const processed = await server.count('.Processed');
    process.stdout.write(`copies in Processed: ${processed}; handed over again: ${inbox.again}\n`);
    expect(processed).toBeGreaterThanOrEqual(2_000);
  });
});
