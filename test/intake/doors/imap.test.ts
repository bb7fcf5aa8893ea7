import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseCheckpoint, toCheckpointText } from '../../../src/intake/doors/imap/checkpoint.ts';
import { MailboxConnection } from '../../../src/intake/doors/imap/connection.ts';
import { readSecrets } from '../../../src/intake/doors/imap/credentials.ts';
import { MailFault, toDoorFault } from '../../../src/intake/doors/imap/fault.ts';
import { Fetches } from '../../../src/intake/doors/imap/fetches.ts';
import { type Credentials, IMAP_LIMITS } from '../../../src/intake/doors/imap/options.ts';
import { aFolder } from '../../support/command.ts';

const readCredentials = (credentials: Credentials, signal = new AbortController().signal) =>
  readSecrets({ credentials }, signal);

/** An executable script, with what it prints. */
async function aProgram(lines: string): Promise<string> {
  const path = join(await aFolder(), 'token');
  writeFileSync(path, `#!/bin/sh\n${lines}\n`);
  chmodSync(path, 0o700);
  return path;
}

describe('credentials', () => {
  test('are the first line of the password file, read anew for each connection', async () => {
    const passwordFile = join(await aFolder(), 'password');
    writeFileSync(passwordFile, 'first one\n');
    expect(await readCredentials({ passwordFile })).toEqual({ pass: 'first one' });
    writeFileSync(passwordFile, 'second\r\n');
    expect(await readCredentials({ passwordFile })).toEqual({ pass: 'second' });
  });

  test('are what the token command prints', async () => {
    const tokenCommand = await aProgram('echo "ya29.a-token_$1"');
    expect(await readCredentials({ tokenCommand: `${tokenCommand}  one two` })).toEqual({
      accessToken: 'ya29.a-token_one',
    });
  });

  test('come from a command without a shell', async () => {
    const tokenCommand = await aProgram('printf "%s" "$1$2$3"');
    const given = `${tokenCommand} $HOME ; "x"`;
    expect(await readCredentials({ tokenCommand: given })).toEqual({ accessToken: '$HOME;"x"' });
  });

  test.each([
    ['prints a message', 'echo "please sign in"', /it printed no token/],
    ['prints nothing', 'true', /it printed no token/],
    [
      'fails',
      'echo secret-token; echo "secret-token has expired" >&2; exit 3',
      /it failed with exit status 3\.$/,
    ],
    ['prints without end', 'exec yes', /it printed too much/],
  ])('are refused, without telling them, when the command %s', async (_what, lines, message) => {
    const tokenCommand = await aProgram(lines);
    const error: Error = await readCredentials({ tokenCommand }).then(
      () => expect.unreachable(),
      (thrown: Error) => thrown,
    );
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('secret-token');
  });

  test('come from a command that has left a program running, which holds its output', async () => {
    const tokenCommand = await aProgram('sleep 20 & echo token');
    expect(await readCredentials({ tokenCommand })).toEqual({ accessToken: 'token' });
  });

  test('are not waited for when the process stops', async () => {
    const tokenCommand = await aProgram('trap "" TERM; sleep 20; echo token');
    const stopping = new AbortController();
    const reading = readCredentials({ tokenCommand }, stopping.signal);
    setTimeout(() => stopping.abort(), 50);
    await expect(reading).rejects.toThrow(/gives no token/);
  });

  test('that are missing are told of in words', async () => {
    const tokenCommand = '/nowhere/token';
    await expect(readCredentials({ tokenCommand })).rejects.toThrow(/there is no such file/);
    const passwordFile = '/nowhere/password';
    await expect(readCredentials({ passwordFile })).rejects.toThrow(/password file cannot be read/);
  });
});

describe('what is fetched by one command', () => {
  const mailsOf = (...sizes: number[]) => sizes.map((size, i) => ({ uid: i + 1, size }));
  const limits = { ...IMAP_LIMITS, batchMails: 3, batchBytes: 100 };
  const uidsOf = (fetches: Fetches, sizes: number[]) =>
    [...fetches.toBatches(mailsOf(...sizes))].map((batch) => batch.map(({ uid }) => uid));

  test('has a bounded number of mails and bytes, and a larger mail is alone', () => {
    const fetches = new Fetches(limits);
    expect(uidsOf(fetches, [1, 1, 1, 1])).toEqual([[1, 2, 3], [4]]);
    expect(uidsOf(fetches, [60, 60, 500, 40, 60])).toEqual([[1], [2], [3], [4, 5]]);
  });

  test('is one mail after the second failure, until as many have succeeded', () => {
    const fetches = new Fetches(limits);
    fetches.failed(mailsOf(1, 1), new Error('lost'));
    expect(uidsOf(fetches, [1, 1, 1])).toEqual([[1, 2, 3]]);
    fetches.failed(mailsOf(1, 1), new Error('lost'));
    expect(uidsOf(fetches, [1, 1, 1])).toEqual([[1], [2], [3]]);
    fetches.succeeded(3);
    expect(uidsOf(fetches, [1, 1, 1])).toEqual([[1, 2, 3]]);
  });

  test.each([
    ['the server refuses three times', new MailFault('no'), 3],
    ['loses the connection twelve times', new Error('lost'), 12],
  ])('has no mail any more that %s', (_what, error, times) => {
    const fetches = new Fetches(limits);
    const [mail] = mailsOf(1);
    if (mail === undefined) throw new Error('no mail');
    for (let i = 0; i < times; i += 1) {
      expect(fetches.isHopeless(mail)).toBe(false);
      fetches.failed([mail], error);
    }
    expect(fetches.isHopeless(mail)).toBe(true);
    expect(fetches.isHopeless({ uid: 2, size: 1 })).toBe(false);
  });

  test('is not given up because of a failure of several mails together', () => {
    const fetches = new Fetches(limits);
    const mails = mailsOf(1, 1);
    for (let i = 0; i < 50; i += 1) fetches.failed(mails, new MailFault('no'));
    expect(mails.some((mail) => fetches.isHopeless(mail))).toBe(false);
  });
});

describe('a mailbox with large gaps between its UIDs', () => {
  test('is listed in few commands, each of them bounded', async () => {
    const uids = [1, 2, 900_000, 900_001, 2 ** 32 - 1];
    let commands = 0;
    const client = {
      ...{ usable: true, mailbox: { exists: uids.length }, state: 3, states: { SELECTED: 3 } },
      ...{ on: () => undefined, stats: () => ({ received: 0 }) },
      async *fetch(range: string, _query: object, by: { uid: boolean }) {
        const [from = 0, to = from] = range.split(':').map(Number);
        commands += 1;
        for (const [i, uid] of uids.entries()) {
          const place = by.uid ? uid : i + 1;
          if (place >= from && place <= to) yield { seq: i + 1, uid, size: 1 };
        }
      },
    };
    const found: number[] = [];
    const connection = new MailboxConnection(client as never, IMAP_LIMITS);
    for await (const { mails } of connection.listWindows({ from: 1 }))
      found.push(...mails.map(({ uid }) => uid));
    expect(found).toEqual(uids);
    expect(commands).toBeLessThan(20);
    const before = [];
    for await (const { mails } of connection.listWindows({ from: 3, to: 900_000 }))
      before.push(...mails.map(({ uid }) => uid));
    expect(before).toEqual([900_000]);
  });
});

describe('a checkpoint', () => {
  const mailbox = 'reports@mail.example.com:993/INBOX';
  const text = toCheckpointText(mailbox, { uidValidity: '7', read: 20, filed: 10 });

  test('is where the reading goes on', () => {
    const names = { mailbox, uidValidity: '7' };
    expect(parseCheckpoint(text, names)).toEqual({ uidValidity: '7', read: 20, filed: 10 });
  });

  test.each([
    ['none', undefined, { mailbox, uidValidity: '7' }],
    ['one of another UIDVALIDITY', text, { mailbox, uidValidity: '8' }],
    ['one of another mailbox', text, { mailbox: `${mailbox}/2`, uidValidity: '7' }],
  ])('that is %s starts at the beginning', (_what, stored, names) => {
    expect(parseCheckpoint(stored, names)).toMatchObject({ read: 0, filed: 0 });
  });
});

describe('a fault of a connection', () => {
  test.each([
    [{ authenticationFailed: true, response: 'Invalid\r\ncredentials' }, /Invalid\\u\{d\}/],
    [
      { authenticationFailed: true, response: '2 NO [X] Failed.' },
      /credentials: NO \[X\] Failed\.$/,
    ],
    [{ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, /certificate is not for mail\.example\.com/],
    [{ code: 'CERT_HAS_EXPIRED' }, /has expired/],
    [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, /is not trusted/],
    [{ tlsFailed: true, message: 'Server does not support STARTTLS' }, /^No TLS/],
    [{ code: 'ENOTFOUND', message: '' }, /there is no such host/],
  ])('is told in words: %j', (properties, words) => {
    const error = Object.assign(new Error('x'), properties);
    expect(toDoorFault(error, 'mail.example.com').message).toMatch(words);
  });
});
