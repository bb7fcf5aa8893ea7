import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import type { Config } from '../../config/config.ts';
import { createDns } from '../../dns/resolver.ts';
import { DAY_MS } from '../../domain/instant.ts';
import { isBuilt } from '../../http/docs.ts';
import { findExpiry, readCertificate } from '../../intake/doors/smtp/certificate.ts';
import { createMailer } from '../../notify/mail/mailer.ts';
import { findClockFault } from '../../store/backup/newest.ts';
import type { Store } from '../../store/engine/store.ts';
import { readClockMs } from '../../store/work/clock.ts';
import { error, type Finding, ok, warning } from './finding.ts';

/** Whoever renews certificates does so earlier. */
const RENEW_DAYS = 14;
const MAX_CLOCK_MS = 5_000;
const ANSWER_MS = 10_000;

/** Whether the machine's clock is synchronised, where systemd knows it, and agrees with PostgreSQL's. */
export async function checkClock({ backups }: Config, { db }: Store): Promise<Finding> {
  const fault = await findClockFault(db, new Date(), backups?.folder);
  if (fault !== undefined) return warning(`Nothing is deleted by age: ${fault}`, 'Is it right?');
  const apartMs = Math.abs((await readClockMs(db)) - Date.now());
  const advice = 'Synchronise the clock, as systemd-timesyncd or chrony do.';
  if (apartMs > MAX_CLOCK_MS)
    return error(`It is ${Math.round(apartMs / 1000)} s from the database's.`, advice);
  const args = ['show', '--property=NTPSynchronized', '--value'];
  const asked = promisify(execFile)('timedatectl', args, { timeout: 2_000 });
  const { stdout } = await asked.catch(() => ({ stdout: '' }));
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  return stdout.trim() === 'no'
    ? warning(`It says ${now} and is not synchronised.`, advice)
    : ok(`It says ${now}.`);
}

export async function checkResolver({ dnsServers }: Config): Promise<Finding> {
  const shown = dnsServers.length === 0 ? 'The DNS servers of the system' : dnsServers.join(', ');
  const answer = await createDns(dnsServers).findTexts('example.com');
  return answer === undefined
    ? error(`${shown}: no answer.`, 'Correct PLUMBLINE_DNS_SERVERS, or /etc/resolv.conf.')
    : ok(`${shown}: an answer came.`);
}

export async function checkCertificate({ smtp }: Config): Promise<Finding> {
  const files = smtp?.certificate;
  if (smtp === undefined) return ok('There is no SMTP door.');
  if (files === undefined) return ok('The SMTP door has no certificate.');
  const certificate = await readCertificate(files);
  const expired = findExpiry(certificate, files.certFile, new Date());
  if (expired !== undefined) return error(expired, 'Senders that check it do not deliver.');
  const { validToDate } = new X509Certificate(certificate.cert);
  const days = Math.floor((validToDate.getTime() - Date.now()) / DAY_MS);
  const found = `${files.certFile} is valid for ${days} days.`;
  return days < RENEW_DAYS ? warning(found, 'Renew it.') : ok(found);
}

export async function checkDocs(): Promise<Finding> {
  if (await isBuilt()) return ok('The docs are built.');
  const found = 'The docs are not built, and are not served.';
  return warning(found, 'Run npm run docs in the checkout.');
}

const toAddress = ({ baseUrl, host, port }: Config) =>
  baseUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

function askReady(url: string): Promise<Response> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  return fetch(`${url}/readyz`, { signal, redirect: 'error' });
}

/** Asks as others do: by a proxy with a certificate, where one is configured. */
export async function checkAddress(config: Config): Promise<Finding> {
  const url = toAddress(config);
  try {
    const { status } = await askReady(url);
    if (status === 200) return ok(`${url} is ready.`);
    return error(`${url}/readyz answers ${status}.`, 'Look at the log of serve, and at the proxy.');
  } catch (fault) {
    const { cause, message } = fault as Error;
    const why = cause instanceof Error && cause.message !== '' ? cause.message : message;
    const found = `${url} does not answer: ${why}.`;
    const { syscall } = (cause ?? fault) as NodeJS.ErrnoException;
    const advice =
      syscall === 'getaddrinfo'
        ? 'DNS has no address for this name: publish a record A or AAAA, or correct PLUMBLINE_BASE_URL.'
        : 'Start serve; look at the proxy and its certificate.';
    return error(found, advice);
  }
}

/** Plumbline speaks no TLS, so there is a proxy in front of an https address. */
export async function checkProxy(config: Config): Promise<Finding> {
  const { baseUrl = '', trustedProxies } = config;
  const advice = 'Set PLUMBLINE_TRUSTED_PROXIES to its address.';
  if (await isForwardingIgnored(config))
    return error(
      'A proxy that is not trusted passes on requests: all clients count as one.',
      advice,
    );
  if (trustedProxies.length > 0) return ok(`Trusted: ${trustedProxies.join(', ')}.`);
  if (!baseUrl.startsWith('https:')) return ok('None is trusted, and none is needed.');
  return warning(
    `A proxy serves ${baseUrl}, and none is trusted: all clients count as one.`,
    advice,
  );
}

/** `/readyz` says so of its own request. No answer, and one of something else, is for the check of the address. */
async function isForwardingIgnored(config: Config): Promise<boolean> {
  try {
    const body = await (await askReady(toAddress(config))).json();
    return (body as { forwarded_for?: unknown }).forwarded_for === 'ignored';
  } catch {
    return false;
  }
}

export async function checkMailServer({ mailServer }: Config): Promise<Finding> {
  if (mailServer === undefined) return ok('None is configured: no mail is sent.');
  const mailer = createMailer(mailServer);
  const shown = `${mailServer.host}:${mailServer.port}`;
  try {
    await mailer.check();
    return ok(`${shown} lets Plumbline in. plumbline mail test sends a mail.`);
  } catch (fault) {
    const advice = 'Correct PLUMBLINE_MAIL_SERVER and its password.';
    return error(`${shown}: ${(fault as Error).message}`, advice);
  } finally {
    mailer.close();
  }
}
