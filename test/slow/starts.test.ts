import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { aCertificate } from '../support/certificate.ts';
import { aCommand, finish, printed } from '../support/command.ts';

/*
 * A process that serves ends by itself when any setting is wrong, whatever else is open by then: a metrics port kept it
 * alive, and systemd called it active.
 */

/** Each variable with a value that cannot be used, and what the sentence must name. */
const WRONG: readonly (readonly [
  variable: string,
  value: string,
  ...more: Record<string, string>[],
])[] = [
  ['PLUMBLINE_HOST', 'nowhere.invalid'],
  ['PLUMBLINE_HOST', '192.0.2.1'],
  ['PLUMBLINE_PORT', 'eighty'],
  ['PLUMBLINE_PORT', '@taken'],
  ['PLUMBLINE_PORT', '@metrics'],
  ['PLUMBLINE_METRICS_PORT', '0'],
  ['PLUMBLINE_METRICS_PORT', '@taken'],
  ['PLUMBLINE_METRICS_HOST', 'nowhere.invalid'],
  ['PLUMBLINE_METRICS_HOST', '192.0.2.1'],
  ['PLUMBLINE_SMTP_PORT', '@metrics'],
  ['PLUMBLINE_SMTP_PORT', '70000'],
  ['PLUMBLINE_SMTP_NAME', 'no name'],
  ['PLUMBLINE_SMTP_TRUSTED', 'relay'],
  ['PLUMBLINE_SMTP_RECIPIENTS', 'nobody'],
  ['PLUMBLINE_SMTP_TLS_CERT', '@missing'],
  ['PLUMBLINE_SMTP_TLS_CERT', '@folder'],
  ['PLUMBLINE_SMTP_TLS_CERT', '@text'],
  ['PLUMBLINE_SMTP_TLS_KEY', '@missing'],
  ['PLUMBLINE_SMTP_TLS_KEY', '@other'],
  ['PLUMBLINE_REPORT_ADDRESS', 'nobody'],
  ['PLUMBLINE_IMAP_URL', 'https://mail.example.com'],
  ['PLUMBLINE_IMAP_PASSWORD_FILE', '@missing'],
  ['PLUMBLINE_IMAP_PASSWORD', 'a second one'],
  ['PLUMBLINE_IMAP_CA', '@missing'],
  ['PLUMBLINE_IMAP_CA', '@text'],
  ['PLUMBLINE_IMAP_TOKEN_COMMAND', '@missing', { PLUMBLINE_IMAP_PASSWORD_FILE: '' }],
  ['PLUMBLINE_IMAP_DONE', 'perhaps'],
  ['PLUMBLINE_IMAP_URL_2', 'imaps://ada@mail.example.com/INBOX'],
  ['PLUMBLINE_WATCH', 'relative'],
  ['PLUMBLINE_WATCH', '@missing'],
  ['PLUMBLINE_WATCH', '@text'],
  ['PLUMBLINE_WATCH', '/proc/self'],
  ['PLUMBLINE_WATCH_DONE', 'perhaps'],
  ['PLUMBLINE_MAIL_SERVER', 'mail.example.com'],
  ['PLUMBLINE_MAIL_PASSWORD_FILE', '@missing'],
  ['PLUMBLINE_MAIL_PASSWORD', 'a second one'],
  ['PLUMBLINE_MAIL_FROM', 'nobody'],
  ['PLUMBLINE_MAIL_TRUSTED_SERVERS', 'UPPER'],
  ['PLUMBLINE_MAIL_VERIFICATION', 'perhaps'],
  ['PLUMBLINE_UPLOADS', 'perhaps'],
  ['PLUMBLINE_DATABASE', '@folder'],
  ['PLUMBLINE_DATABASE', '@text'],
  ['PLUMBLINE_DATABASE', 'mysql://db.example.com/x'],
  ['PLUMBLINE_DATABASE', 'postgres://ada@127.0.0.1:9/x', { PLUMBLINE_BACKUP_TO: '' }],
  ['PLUMBLINE_DATABASE_READ', 'postgres://ada@127.0.0.1:9/x'],
  ['PLUMBLINE_DATABASE_PASSWORD_FILE', '@missing'],
  ['PLUMBLINE_DATABASE_CONNECTIONS', '1'],
  ['PLUMBLINE_MIN_FREE_MB', '-1'],
  ['PLUMBLINE_BACKUP_TO', 'relative'],
  ['PLUMBLINE_BACKUP_TO', '@missing'],
  ['PLUMBLINE_BACKUP_TO', '@text'],
  ['PLUMBLINE_BACKUP_KEEP', '0,0,0'],
  ['PLUMBLINE_SECRETS_KEY_FILE', '@missing'],
  ['PLUMBLINE_SECRETS_KEY_FILE', '@text'],
  ['PLUMBLINE_IP_DATABASE', '@missing'],
  ['PLUMBLINE_IP_DATABASE', '@text'],
  ['PLUMBLINE_REDIS', 'http://127.0.0.1'],
  ['PLUMBLINE_REDIS_PASSWORD_FILE', '@missing'],
  ['PLUMBLINE_REDIS_CA', '@missing', { PLUMBLINE_REDIS: 'rediss://127.0.0.1:9' }],
  ['PLUMBLINE_REDIS_CA', '@text', { PLUMBLINE_REDIS: 'rediss://127.0.0.1:9' }],
  ['PLUMBLINE_OIDC_ISSUER', 'http://provider.example.com'],
  ['PLUMBLINE_OIDC_CLIENT_ID', '', { PLUMBLINE_OIDC_ISSUER: 'https://provider.example.com' }],
  ['PLUMBLINE_BASE_URL', 'https://dmarc.example.com/path'],
  ['PLUMBLINE_CONTACT', 'http://example.com/contact'],
  ['PLUMBLINE_TRUSTED_PROXIES', 'proxy'],
  ['PLUMBLINE_WEBHOOK_ALLOW', '10.0.0.0/99'],
  ['PLUMBLINE_DNS_SERVERS', '192.0.2.53:99999'],
  ['PLUMBLINE_DNS_CHECKS', 'perhaps'],
  ['PLUMBLINE_SANDBOX', 'perhaps'],
  ['PLUMBLINE_SHARE_PORT', 'perhaps'],
  ['PLUMBLINE_LOG_LEVEL', 'loud'],
  ['PLUMBLINE_REQUESTS_PER_KEY', '0'],
  ['PLUMBLINE_REQUESTS_PER_IP', '0'],
  ['PLUMBLINE_MAX_CONNECTIONS', '0'],
  ['PLUMBLINE_MAX_CONNECTIONS_PER_IP', '0'],
  ['PLUMBLINE_PAGE_CACHE_MB', 'much'],
  ['PLUMBLINE_UNCLAIMED_MB', '0'],
  ['PLUMBLINE_UNCLAIMED_DAYS', '0'],
  ['PLUMBLINE_KEEP_REPORTS_DAYS', '1'],
  ['PLUMBLINE_KEEP_ORIGINALS_DAYS', '1'],
  ['PLUMBLINE_KEEP_AUDIT_DAYS', '1'],
  ['PLUMBLINE_STOP_DELAY_SECONDS', '301'],
  ['PLUMBLINE_ALERT_MAX_AGE_DAYS', '0'],
  ['PLUMBLINE_ALERT_DROP_POINTS', '-1'],
  ['PLUMBLINE_ALERT_UNAUTHENTICATED', 'perhaps'],
  ['PLUMBLINE_PROT', '8080'],
  ['PLUMBLINE_CONFIG', '@missing'],
];

/** Everything that can be open is open, and the server would take its time to stop. */
async function anInstallation() {
  const { start, folder, env } = await aCommand();
  const { cert, key } = aCertificate('dmarc.example.com', 2049);
  const path = (name: string, content: string | Buffer) => {
    writeFileSync(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  };
  for (const name of ['drop', 'backups', 'folder']) mkdirSync(join(folder, name));
  const taken = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void taken.close());
  await once(taken, 'listening');
  const metrics = String(await findFreePort());
  Object.assign(env, {
    PLUMBLINE_METRICS_PORT: metrics,
    PLUMBLINE_STOP_DELAY_SECONDS: '300',
    PLUMBLINE_SMTP_PORT: String(await findFreePort()),
    PLUMBLINE_SMTP_HOST: '127.0.0.1',
    PLUMBLINE_SMTP_NAME: 'dmarc.example.com',
    PLUMBLINE_SMTP_TLS_CERT: path('cert.pem', cert),
    PLUMBLINE_SMTP_TLS_KEY: path('key.pem', key),
    PLUMBLINE_IMAP_URL: 'imaps://ada@127.0.0.1:9/INBOX',
    PLUMBLINE_IMAP_PASSWORD_FILE: path('imap', 'secret'),
    PLUMBLINE_WATCH: join(folder, 'drop'),
    PLUMBLINE_MAIL_SERVER: 'smtps://ada@127.0.0.1:9',
    PLUMBLINE_MAIL_PASSWORD_FILE: path('mail', 'secret'),
    PLUMBLINE_MAIL_FROM: 'dmarc@example.com',
    PLUMBLINE_BASE_URL: 'https://dmarc.example.com',
    PLUMBLINE_BACKUP_TO: join(folder, 'backups'),
    PLUMBLINE_REDIS: 'redis://127.0.0.1:9',
    PLUMBLINE_DNS_CHECKS: 'on',
    PLUMBLINE_DNS_SERVERS: '127.0.0.1:9',
  });
  const values: Record<string, string> = {
    '@metrics': metrics,
    '@taken': String((taken.address() as AddressInfo).port),
    '@missing': join(folder, 'missing'),
    '@other': path('other.pem', aCertificate('dmarc.example.com', 2049).key),
    '@folder': join(folder, 'folder'),
    '@text': path('text', 'this is no such thing\n'.repeat(50)),
  };
  return { start, env, values };
}

async function startWrong(
  { start, env, values }: Awaited<ReturnType<typeof anInstallation>>,
  i: number,
) {
  const [name, given, more = {}] = WRONG[i] as (typeof WRONG)[number];
  const right = { ...env };
  Object.assign(env, more, { [name]: values[given] ?? given });
  const child = start('serve');
  for (const key of Object.keys(env)) delete (env as Record<string, string>)[key];
  Object.assign(env, right);
  onTestFinished(() => void child.kill('SIGKILL'));
  const { status, stdout, stderr } = await finish(child);
  const lines = stderr.trim().split('\n');
  const said = lines.map((line) => (line.startsWith('{') ? JSON.parse(line).msg : line));
  const isNamed = said
    .slice(-2)
    .some((line) => line.includes(name) || line.includes(values[given] ?? name));
  return isNamed && status !== 0 && stdout === '' ? [] : [{ name, given, status, stdout, stderr }];
}

const GROUP = 4;

test('a process that cannot start stayed, because its metrics port was open', async () => {
  const installation = await anInstallation();
  const wrong: unknown[] = [];
  for (let i = 0; i < WRONG.length; i += GROUP) {
    const group = Array.from({ length: Math.min(GROUP, WRONG.length - i) }, (_, j) => i + j);
    wrong.push(...(await Promise.all(group.map((one) => startWrong(installation, one)))).flat());
  }
  expect(wrong).toEqual([]);
}, 600_000);

test('a process with all of that open starts and stops, with one line for each', async () => {
  const { start, env, values } = await anInstallation();
  Object.assign(env, { PLUMBLINE_STOP_DELAY_SECONDS: '0' });
  const child = start('serve');
  const ended = finish(child);
  await printed(child, /listens on/);
  const answer = await fetch(`http://127.0.0.1:${values['@metrics']}/metrics`);
  expect(await answer.text()).toContain('plumbline_job_failing{job="backup"} 0');
  child.kill('SIGTERM');
  const { status, stderr } = await ended;
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(status).toBe(0);
  expect(lines.filter(({ msg }) => msg === 'started')).toMatchObject([
    {
      version: expect.stringMatching(/^1\./),
      schema: '0001-tables',
      engine: 'sqlite',
      jobs: expect.arrayContaining(['alerts', 'backup', 'outbox']),
      doors: [
        expect.stringContaining('folder'),
        expect.stringContaining('smtp'),
        expect.stringContaining('imap'),
      ],
    },
  ]);
  expect(lines.at(-1)).toMatchObject({ msg: 'stopped' });
});
