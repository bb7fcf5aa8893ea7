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
    const { imap } = readConfig({ PLUMBLINE_IMAP_URL: url, ...IMAP });
    expect(imap).toMatchObject({ port, user, mailbox, security, done: 'move' });
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
    expect(readConfig(left).imap?.done).toBe('leave');
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
