/* How mails come in by each door. */
import { appendFile, mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createTransport } from 'nodemailer';
import { SMTP_LIMITS } from '../../../src/intake/doors/smtp/limits.ts';
import { Dovecot, PASSWORD, USER } from '../../dovecot/dovecot.ts';
import { findFreePort } from '../../free-port.ts';
import { renderReport } from '../report-xml.ts';

const RECORDS = 10;
const ADDRESS = 'reports@mx.example.com';
/** As many as may send at the same time from one address. */
const SENDERS = SMTP_LIMITS.maxReceivingPerAddress;

/** A mail with a report, or the report alone, compressed. */
export type FileKind = 'mail' | 'report';

export interface Door {
  readonly name: string;
  readonly kind: FileKind;
  /** A file of a program without which the door is not measured. */
  readonly needs: string;
  readonly open: (folder: string) => Promise<OpenDoor>;
}

export interface OpenDoor {
  /** The configuration of the process that has the door. */
  readonly env: NodeJS.ProcessEnv;
  readonly bring: (numbers: readonly number[]) => Promise<unknown>;
  /** How many mails are not filed. Absent for a door that files none. */
  readonly countLeft?: () => Promise<number>;
  readonly close: () => Promise<void>;
}

const close = async () => undefined;

export const DOORS: readonly Door[] = [
  { name: 'maildir', kind: 'mail', needs: '/', open: openMaildir },
  { name: 'mbox', kind: 'mail', needs: '/', open: openMbox },
  { name: 'smtp', kind: 'mail', needs: '/', open: openSmtp },
  { name: 'imap', kind: 'mail', needs: '/usr/sbin/dovecot', open: openImap },
  { name: 'folder', kind: 'report', needs: '/', open: openFolder },
];

export async function openMaildir(folder: string): Promise<OpenDoor> {
  const maildir = join(folder, 'maildir');
  for (const name of ['', 'new', 'cur', 'tmp']) await mkdir(join(maildir, name));
  const bring = (numbers: readonly number[]) =>
    bringFiles(folder, join(maildir, 'new'), { kind: 'mail', numbers });
  const countLeft = async () => (await readdir(join(maildir, 'new'))).length;
  return { env: { PLUMBLINE_WATCH: maildir }, bring, countLeft, close };
}

async function openFolder(folder: string): Promise<OpenDoor> {
  const dropped = join(folder, 'dropped');
  await mkdir(dropped);
  const bring = (numbers: readonly number[]) =>
    bringFiles(folder, dropped, { kind: 'report', numbers });
  const countLeft = async () => (await readdir(dropped)).filter(isReport).length;
  return { env: { PLUMBLINE_WATCH: dropped }, bring, countLeft, close };
}

const isReport = (name: string) => name.endsWith('.xml.gz');

/** Files are whole when they appear. */
async function bringFiles(
  from: string,
  to: string,
  { kind, numbers }: { readonly kind: FileKind; readonly numbers: readonly number[] },
): Promise<void> {
  const names = await writeFiles(from, kind, numbers);
  for (const name of names) await rename(join(from, name), join(to, name));
}

async function openMbox(folder: string): Promise<OpenDoor> {
  const path = join(folder, 'mbox');
  await writeFile(path, '');
  const bring = async (numbers: readonly number[]) => {
    const messages = numbers.map(
      (number) => `From reporter@example.com Thu Jan  1 00:00:00 2026\n${renderMail(number)}\n`,
    );
    await appendFile(path, messages.join('').replaceAll('\r\n', '\n'));
  };
  return { env: { PLUMBLINE_WATCH: path }, bring, close };
}

async function openSmtp(): Promise<OpenDoor> {
  const port = await findFreePort();
  const bring = async (numbers: readonly number[]) => {
    const pool = { pool: true, maxConnections: SENDERS, maxMessages: 50 } as const;
    const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true, ...pool });
    const envelope = { from: 'noreply@reporter.example', to: [ADDRESS] };
    const sent = numbers.map((number) => transport.sendMail({ envelope, raw: renderMail(number) }));
    await Promise.all(sent);
    transport.close();
  };
  return { env: toSmtpEnv(port), bring, close };
}

export const toSmtpEnv = (port: number) => ({
  ...{ PLUMBLINE_SMTP_NAME: 'mx.example.com', PLUMBLINE_SMTP_RECIPIENTS: ADDRESS },
  ...{ PLUMBLINE_SMTP_PORT: `${port}`, PLUMBLINE_SMTP_HOST: '127.0.0.1' },
});

async function openImap(): Promise<OpenDoor> {
  const imap = await Dovecot.start();
  return {
    env: toImapEnv(imap),
    bring: (numbers) => imap.add(numbers.map(renderMail)),
    countLeft: () => imap.count(),
    close: () => imap.remove(),
  };
}

export const toImapEnv = ({ ports }: Dovecot) => ({
  PLUMBLINE_IMAP_URL: `imap://${USER}@127.0.0.1:${ports.imap}/INBOX`,
  PLUMBLINE_IMAP_PASSWORD: PASSWORD,
});

/** Returns their names. */
export async function writeFiles(
  folder: string,
  kind: FileKind,
  numbers: readonly number[],
): Promise<string[]> {
  const names: string[] = [];
  for (const number of numbers) {
    const name = `${number}.${kind === 'mail' ? 'eml' : 'xml.gz'}`;
    await writeFile(join(folder, name), kind === 'mail' ? renderMail(number) : pack(number));
    names.push(name);
  }
  return names;
}

const pack = (number: number) => gzipSync(renderReport({ number, records: RECORDS }));

const renderMail = (number: number) => toMail(pack(number));

/** A mail with one attachment. */
export function toMail(content: Buffer): string {
  const lines = [
    ...['From: noreply@reporter.example', 'To: dmarc@example.com', 'MIME-Version: 1.0'],
    ...['Content-Type: application/gzip', 'Content-Transfer-Encoding: base64', ''],
    content.toString('base64').replace(/.{76}/g, '$&\r\n'),
  ];
  return `${lines.join('\r\n')}\r\n`;
}
