import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSecrets } from '../../src/intake/doors/imap/credentials.ts';
import { aFolder } from '../support/command.ts';
import { PATIENCE_MS } from '../support/every-suite.ts';
import { anImapDoor } from '../support/imap-door.ts';
import { aDovecot, optionsOf } from './dovecot.ts';
import { aTokenProvider, aTokenServer } from './token-server.ts';

const PATIENT = { timeout: PATIENCE_MS, interval: 50 };
const MAIL = 'From: a@reporter.example\r\nSubject: report\r\n\r\nreport\r\n';

/** A server that takes access tokens only, and a token command that prints what is in a file. */
async function aServerWithTokens(mechanisms = 'xoauth2') {
  const tokens = await aTokenServer('reports');
  const server = await aDovecot({ tokens: { url: tokens.url, mechanisms } });
  const file = join(await aFolder(), 'token');
  const options = optionsOf(server, { credentials: { tokenCommand: `cat ${file}` } });
  return { tokens, server, options, setToken: (token: string) => writeFile(file, token) };
}

/** The script of the guide, with this provider's URL, and a client secret. */
async function aTokenScript(provider: string): Promise<string> {
  const folder = await aFolder();
  await writeFile(join(folder, 'secret'), 'a secret');
  const guide = await readFile(new URL('../../docs/operate/mail.md', import.meta.url), 'utf8');
  const script = (/#!\/bin\/sh\n +curl[\s\S]*?(?=```)/.exec(guide)?.[0] ?? '')
    .replace(/https:\S+\/token/, provider)
    .replace('/etc/plumbline/imap-client-secret', join(folder, 'secret'));
  const file = join(folder, 'imap-token');
  await writeFile(file, script, { mode: 0o700 });
  return file;
}

test.each([
  ['xoauth2', 'XOAUTH2'],
  ['xoauth2 oauthbearer', 'OAUTHBEARER'],
])(
  'A mailbox of a server that offers %s is read with the token that the command prints',
  async (mechanisms, used) => {
    const { tokens, server, options, setToken } = await aServerWithTokens(mechanisms);
    tokens.valid.add('good-token');
    await setToken('good-token\n');
    await server.add([MAIL]);
    const { inbox } = anImapDoor(options);
    await expect.poll(() => server.count('.Processed'), PATIENT).toBe(1);
    expect(inbox.notes).toEqual([undefined]);
    expect(await server.readLog()).toContain(`Login: user=<reports>, method=${used}`);
  },
);

test('A mailbox is read with the token that the script of the guide gets', async () => {
  const { tokens, server, options } = await aServerWithTokens();
  tokens.valid.add('good-token');
  const provider = await aTokenProvider((form) =>
    form['client_secret'] === 'a secret' && form['grant_type'] === 'client_credentials'
      ? { token_type: 'Bearer', access_token: 'good-token' }
      : { error: 'invalid_client' },
  );
  const file = await aTokenScript(provider);
  await server.add([MAIL]);
  anImapDoor({ ...options, credentials: { tokenCommand: file } });
  await expect.poll(() => server.count('.Processed'), PATIENT).toBe(1);
});

test('The script of the guide fails when the provider gives no token', async () => {
  const provider = await aTokenProvider(() => ({ error: 'invalid_client' }));
  const file = await aTokenScript(provider);
  const { signal } = new AbortController();
  await expect(readSecrets({ credentials: { tokenCommand: file } }, signal)).rejects.toThrow(
    /gives no token: it failed with exit status 1\./,
  );
});

test('A token that the server refuses is told of in words without the token, and a new one is used', async () => {
  const { tokens, server, options, setToken } = await aServerWithTokens();
  await setToken('expired-token');
  await server.add([MAIL]);
  const { inbox, lines } = anImapDoor(options);
  await expect.poll(() => inbox.notes.length, PATIENT).toBe(1);
  expect(inbox.notes[0]).toMatch(/^The server refuses the user or the credentials/);
  expect(tokens.asked).toContain('expired-token');
  expect(inbox.mails.size).toBe(0);

  tokens.valid.add('new-token');
  await setToken('new-token');
  await expect.poll(() => server.count('.Processed'), PATIENT).toBe(1);
  expect(inbox.notes.at(-1)).toBe(undefined);
  expect([...inbox.notes, ...lines].join('\n')).not.toMatch(/expired-token|new-token/);
});

test('A token that is refused later, at the next connection, ends nothing but that connection', async () => {
  const { tokens, server, options, setToken } = await aServerWithTokens();
  tokens.valid.add('first');
  await setToken('first');
  await server.add([MAIL]);
  const { inbox } = anImapDoor(options);
  await expect.poll(() => inbox.notes, PATIENT).toEqual([undefined]);

  tokens.valid.clear();
  await server.stop();
  await server.resume();
  await expect.poll(() => inbox.notes.at(-1), PATIENT).toMatch(/^The server refuses/);
  tokens.valid.add('second');
  await setToken('second');
  await server.add([MAIL.replaceAll('report', 'another report')]);
  await expect.poll(() => inbox.mails.size, PATIENT).toBe(2);
});
