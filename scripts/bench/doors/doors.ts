/* How mails come in by each door. */
import { mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { Dovecot, PASSWORD, USER } from '../../../test/support/dovecot/dovecot.ts';
import { findFreePort } from '../../free-port.ts';
import { type FileKind, MAIL, REPORT } from '../files.ts';

export const ADDRESS = 'reports@mx.example.com';
/** As many as may send at the same time from one address. */
const SENDERS = 20;

export interface Door {
  readonly name: string;
  readonly kind: FileKind;
  /** A program without which the door is not measured. */
  readonly needs?: string;
  readonly open: (folder: string) => Promise<OpenDoor>;
}

export interface OpenDoor {
  /** The configuration of the process that has the door. */
  readonly env: NodeJS.ProcessEnv;
  /** Brings files, which may be moved away. */
  readonly bring: (paths: readonly string[]) => Promise<unknown>;
  /** How many mails are not filed. Absent for a door that files none. */
  readonly countLeft?: () => Promise<number>;
  readonly close?: () => Promise<void>;
}

export const DOORS: readonly Door[] = [
  { name: 'Maildir', kind: MAIL, open: openMaildir },
  { name: 'SMTP', kind: MAIL, open: openSmtp },
  { name: 'IMAP', kind: MAIL, needs: '/usr/sbin/dovecot', open: openImap },
  { name: 'folder', kind: REPORT, open: openFolder },
];

async function openMaildir(folder: string): Promise<OpenDoor> {
  for (const name of ['new', 'cur', 'tmp']) await mkdir(join(folder, name));
  return { env: { PLUMBLINE_WATCH: folder }, ...movingTo(join(folder, 'new')) };
}

async function openFolder(folder: string): Promise<OpenDoor> {
  return { env: { PLUMBLINE_WATCH: folder }, ...movingTo(folder) };
}

/** Files are whole when they appear. */
function movingTo(folder: string): Pick<OpenDoor, 'bring' | 'countLeft'> {
  return {
    bring: async (paths) => {
      for (const path of paths) await rename(path, join(folder, path.split('/').at(-1) ?? ''));
    },
    countLeft: async () => {
      const entries = await readdir(folder, { withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).length;
    },
  };
}

/** The configuration of a process that takes mail by SMTP, and its port. */
export async function listenForMail() {
  const port = await findFreePort();
  const env = {
    PLUMBLINE_SMTP_NAME: 'mx.example.com',
    PLUMBLINE_SMTP_RECIPIENTS: ADDRESS,
    PLUMBLINE_SMTP_PORT: `${port}`,
    PLUMBLINE_SMTP_HOST: '127.0.0.1',
  };
  return { port, env };
}

async function openSmtp(): Promise<OpenDoor> {
  const { port, env } = await listenForMail();
  const bring = async (paths: readonly string[]) => {
    const pool = { pool: true, maxConnections: SENDERS, maxMessages: 50 } as const;
    const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true, ...pool });
    const envelope = { from: 'noreply@reporter.example', to: [ADDRESS] };
    const mails = await Promise.all(paths.map((path) => readFile(path)));
    await Promise.all(mails.map((raw) => transport.sendMail({ envelope, raw })));
    transport.close();
  };
  return { env, bring };
}

async function openImap(): Promise<OpenDoor> {
  const imap = await Dovecot.start();
  const env = {
    PLUMBLINE_IMAP_URL: `imap://${USER}@127.0.0.1:${imap.ports.imap}/INBOX`,
    PLUMBLINE_IMAP_PASSWORD: PASSWORD,
  };
  const bring = async (paths: readonly string[]) =>
    imap.add(await Promise.all(paths.map((path) => readFile(path))));
  return { env, bring, countLeft: () => imap.count(), close: () => imap.remove() };
}
