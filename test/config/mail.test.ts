import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';

const IMAP = { PLUMBLINE_IMAP_PASSWORD_FILE: '/etc/plumbline/imap-password' };
const SMTP = { PLUMBLINE_SMTP_PORT: '25', PLUMBLINE_SMTP_NAME: 'mx.plumbline.example' };

describe('PLUMBLINE_IMAP_URL', () => {
  test.each([
    ['imaps://reports@mail.example.com', 993, 'reports', 'INBOX', 'tls'],
    [
      'imaps://a%40example.com@mail.example.com:994/Reports%2FDMARC',
      994,
      'a@example.com',
      'Reports/DMARC',
      'tls',
    ],
    ['imap://reports@mail.example.com/INBOX', 143, 'reports', 'INBOX', 'starttls'],
    ['imap://reports@127.0.0.1:1143/INBOX', 1143, 'reports', 'INBOX', 'none'],
    ['imap://reports@[::1]/INBOX', 143, 'reports', 'INBOX', 'none'],
  ])('%s', (url, port, user, mailbox, security) => {
    const { mailboxes } = readConfig({ PLUMBLINE_IMAP_URL: url, ...IMAP });
    expect(mailboxes).toMatchObject([
      { door: 'imap', port, user, mailbox, security, done: 'move' },
    ]);
  });

  test.each([
    'mail.example.com',
    'https://reports@mail.example.com/INBOX',
    'imaps://mail.example.com/INBOX',
    'imaps://reports:secret@mail.example.com/INBOX',
    'imaps://reports@mail.example.com/INBOX?x',
    'imaps://reports@mail.example.com/%0d%0aLOGOUT',
    'imaps://reports@mail.example.com/%ff',
  ])('%s is refused, and not repeated', (url) => {
    const read = () => readConfig({ PLUMBLINE_IMAP_URL: url, ...IMAP });
    expect(read).toThrow(/PLUMBLINE_IMAP_URL: must be like imaps:/);
    expect(read).not.toThrow(/secret/);
  });

  test.each([
    ['without credentials', {}],
    ['with two', { ...IMAP, PLUMBLINE_IMAP_PASSWORD: 'x' }],
  ])('%s is refused', (_what, credentials) => {
    const env = { PLUMBLINE_IMAP_URL: 'imaps://reports@mail.example.com', ...credentials };
    expect(() => readConfig(env)).toThrow(/needs one of PLUMBLINE_IMAP_PASSWORD, /);
  });

  test('without TLS is refused with certificates of an authority, which would not be used', () => {
    const env = { PLUMBLINE_IMAP_URL: 'imap://reports@localhost', PLUMBLINE_IMAP_CA: '/ca.pem' };
    expect(() => readConfig({ ...env, ...IMAP })).toThrow(/PLUMBLINE_IMAP_CA: .* has no TLS/);
  });

  test('of the mailbox that mails are moved to is refused', () => {
    const PLUMBLINE_IMAP_URL = 'imaps://reports@mail.example.com/processed';
    expect(() => readConfig({ PLUMBLINE_IMAP_URL, ...IMAP })).toThrow(/that mails are moved to/);
    const left = { PLUMBLINE_IMAP_URL, ...IMAP, PLUMBLINE_IMAP_DONE: 'leave' };
    expect(readConfig(left).mailboxes[0]?.done).toBe('leave');
  });

  test('may have others beside it, each with variables of its own that end with its number', () => {
    const other = {
      PLUMBLINE_IMAP_URL_3: 'imaps://reports@mail.example.net/DMARC',
      PLUMBLINE_IMAP_PASSWORD_3: 's3cret',
      PLUMBLINE_IMAP_DONE_3: 'flag',
    };
    const first = { PLUMBLINE_IMAP_URL: 'imaps://reports@mail.example.com', ...IMAP };
    const read = (env: NodeJS.ProcessEnv) => () => readConfig({ ...first, ...env });
    expect(read(other)().mailboxes).toMatchObject([
      { door: 'imap', host: 'mail.example.com', done: 'move' },
      { door: 'imap:3', host: 'mail.example.net', mailbox: 'DMARC', done: 'flag' },
    ]);
    expect(read({ ...other, PLUMBLINE_IMAP_PASSWORD_3: '' })).toThrow(
      /PLUMBLINE_IMAP_URL_3: needs one of PLUMBLINE_IMAP_PASSWORD_3, /,
    );
    expect(read({ PLUMBLINE_IMAP_URL_21: first.PLUMBLINE_IMAP_URL })).toThrow(/no such variable/);
  });
});

describe('PLUMBLINE_SMTP_PORT', () => {
  test('opens a mail server for the report address and the others named', () => {
    const { smtp } = readConfig({
      ...SMTP,
      PLUMBLINE_REPORT_ADDRESS: 'dmarc@mx.plumbline.example',
      PLUMBLINE_SMTP_TRUSTED: '192.0.2.25, 198.51.100.0/24',
      PLUMBLINE_SMTP_RECIPIENTS: 'rua@example.com, rua@example.org',
    });
    expect(smtp).toEqual({
      port: 25,
      host: undefined,
      trusted: ['192.0.2.25', '198.51.100.0/24'],
      name: 'mx.plumbline.example',
      recipients: ['dmarc@mx.plumbline.example', 'rua@example.com', 'rua@example.org'],
      certificate: undefined,
    });
    expect(readConfig({}).smtp).toBe(undefined);
  });

  test.each([
    ['without a name', { PLUMBLINE_SMTP_PORT: '25' }, /SMTP_NAME: is required/],
    ['with half of a certificate', { ...SMTP, PLUMBLINE_SMTP_TLS_CERT: '/c' }, /TLS_KEY: is req/],
    ['with a key alone', { ...SMTP, PLUMBLINE_SMTP_TLS_KEY: '/k' }, /TLS_CERT: is req/],
    ['with a name for an address', { ...SMTP, PLUMBLINE_SMTP_RECIPIENTS: 'rua' }, /e-mail addr/],
  ])('%s is refused', (_what, env, message) => {
    expect(() => readConfig(env)).toThrow(message);
  });
});

describe('PLUMBLINE_MAIL_SERVER', () => {
  const NEEDED = {
    PLUMBLINE_MAIL_FROM: 'Plumbline <dmarc@example.com>',
    PLUMBLINE_BASE_URL: 'https://dmarc.example.com',
  };

  test.each([
    ['smtps://mail.example.com', 465, undefined, 'tls'],
    ['smtps://a%40example.com@mail.example.com:10465', 10_465, 'a@example.com', 'tls'],
    ['smtp://plumbline@mail.example.com', 587, 'plumbline', 'starttls'],
    ['smtp://localhost:25', 25, undefined, 'none'],
    ['smtp://[::1]:25', 25, undefined, 'none'],
  ])('%s', (url, port, user, security) => {
    const env = { PLUMBLINE_MAIL_SERVER: url, ...NEEDED };
    const secret = user === undefined ? {} : { PLUMBLINE_MAIL_PASSWORD: 's3cret' };
    const { mailServer } = readConfig({ ...env, ...secret });
    expect(mailServer).toMatchObject({ port, user, security });
    expect(mailServer?.password?.()).toBe(user && 's3cret');
    expect(mailServer?.from).toEqual({ name: 'Plumbline', address: 'dmarc@example.com' });
  });

  test.each([
    'mail.example.com',
    'imaps://mail.example.com',
    'smtps://plumbline:secret@mail.example.com',
    'smtps://mail.example.com/path',
    'smtps://mail.example.com?x',
    'smtps://a%0d%0ab@mail.example.com',
  ])('%s is refused, and not repeated', (url) => {
    const read = () => readConfig({ PLUMBLINE_MAIL_SERVER: url, ...NEEDED });
    expect(read).toThrow(/PLUMBLINE_MAIL_SERVER: must be like smtps:/);
    expect(read).not.toThrow(/secret/);
  });

  test('needs a sender, an address for links, and a password exactly when it has a user', () => {
    const read = (env: NodeJS.ProcessEnv) => () =>
      readConfig({ PLUMBLINE_MAIL_SERVER: 'smtps://u@mail.example.com', ...env });
    const password = { PLUMBLINE_MAIL_PASSWORD: 's3cret' };
    expect(read({ ...NEEDED, ...password })).not.toThrow();
    expect(read({ ...NEEDED })).toThrow(/needs one of PLUMBLINE_MAIL_PASSWORD, /);
    const both = { ...password, PLUMBLINE_MAIL_PASSWORD_FILE: '/etc/plumbline/mail-password' };
    expect(read({ ...NEEDED, ...both })).toThrow(/needs one of PLUMBLINE_MAIL_PASSWORD, /);
    expect(read(password)).toThrow(
      /PLUMBLINE_MAIL_FROM: is required.*\n.*PLUMBLINE_BASE_URL: is req/,
    );
    const server = 'smtp://localhost';
    const alone = { ...NEEDED, ...password, PLUMBLINE_MAIL_SERVER: server };
    expect(read(alone)).toThrow(/and without one none/);
  });

  test.each([
    'dmarc',
    'Plumbline dmarc@example.com',
    '"Plumbline" <dmarc@example.com>',
    'Plumbline <dmarc@example.com>, eve@example.net',
    'eve@example.net <dmarc@example.com>',
    'Plumb\nBcc: eve@example.net <dmarc@example.com>',
    'dmarc@example.com,eve@example.net',
  ])('the sender %j is refused', (from) => {
    const env = { ...NEEDED, PLUMBLINE_MAIL_SERVER: 'smtp://localhost', PLUMBLINE_MAIL_FROM: from };
    expect(() => readConfig(env)).toThrow(/PLUMBLINE_MAIL_FROM: must be an e-mail address/);
  });
});
