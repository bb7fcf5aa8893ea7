/** Debian's Cyrus, started as root, as an ordinary instance in a folder of its own. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import type { ImapOptions } from '../../src/intake/doors/imap/options.ts';
import { aFolder } from '../support/command.ts';

const MASTER = '/usr/sbin/cyrmaster';
/** Debian's package cannot be installed beside Dovecot's, so the program may be elsewhere. */
const IMAPD = process.env['CYRUS_IMAPD'] ?? '/usr/lib/cyrus/bin/imapd';
const FOLDERS = [
  '',
  'spool',
  'conf',
  'conf/socket',
  'conf/db',
  'conf/proc',
  'conf/log',
  'conf/msg',
];
/** Two bytes with the length of the answer come first. */
const SASL_OK = Buffer.from([0, 2, ...Buffer.from('OK')]);
const START_TRIES = 300;

const toImapdConfig = (folder: string): string => `
configdirectory: ${folder}/conf
defaultpartition: default
partition-default: ${folder}/spool
admins: admin
sasl_pwcheck_method: saslauthd
sasl_saslauthd_path: ${folder}/auth
sasl_mech_list: PLAIN LOGIN
allowplaintext: yes
unixhierarchysep: no
`;

const toMasterConfig = (folder: string, port: number): string => `
START {
  recover cmd="/usr/sbin/cyrus ctl_cyrusdb -C ${folder}/imapd.conf -r"
}
SERVICES {
  imap cmd="${IMAPD} -C ${folder}/imapd.conf" listen="127.0.0.1:${port}" prefork=0
}
`;

/** A server for which each password is right, until the end of the test. It has the mailbox of the user `reports`. */
export async function aCyrus() {
  const folder = await aFolder();
  await chmod(folder, 0o755);
  const [uid, gid] = ['-u', '-g'].map((option) =>
    Number(execFileSync('id', [option, 'cyrus'], { encoding: 'utf8' })),
  );
  for (const name of FOLDERS) {
    await mkdir(join(folder, name), { recursive: true });
    await chown(join(folder, name), uid ?? 0, gid ?? 0);
  }
  const port = await findFreePort();
  await writeFile(join(folder, 'imapd.conf'), toImapdConfig(folder));
  await writeFile(join(folder, 'cyrus.conf'), toMasterConfig(folder, port));
  const auth = createServer((socket) => socket.once('data', () => socket.end(SASL_OK)));
  auth.listen(join(folder, 'auth'));
  await once(auth, 'listening');
  await chmod(join(folder, 'auth'), 0o777);
  const files = ['-C', 'imapd.conf', '-M', 'cyrus.conf', '-p', 'pid'].map((arg) =>
    arg.startsWith('-') ? arg : join(folder, arg),
  );
  const master = spawn(MASTER, [...files, '-D'], { stdio: 'ignore' });
  const ended = once(master, 'exit');
  onTestFinished(async () => {
    master.kill('SIGTERM');
    await ended;
    auth.close();
  });
  const server = { port, ask: (user: string, ...lines: string[]) => ask(port, user, lines) };
  for (let tries = 0; (await server.ask('admin', 'CREATE user.reports')) === ''; tries += 1) {
    if (tries === START_TRIES) throw new Error('Cyrus does not start.');
    await sleep(100);
  }
  return server;
}

/** What the server says to commands of a user; empty when it is not there. */
async function ask(port: number, user: string, lines: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  let said = '';
  socket.on('data', (text: string) => {
    said += text;
  });
  socket.on('error', () => {});
  const all = [`LOGIN ${user} x`, ...lines, 'LOGOUT'];
  socket.write(all.map((line, i) => `${i} ${line}\r\n`).join(''), 'latin1');
  await once(socket, 'close').catch(() => undefined);
  return said;
}

/** A command that puts a mail into a folder. */
export function toAppend(folder: string, text: string): string {
  const mail = `From: a@reporter.example\r\nSubject: ${text}\r\n\r\n${text}\r\n`;
  return `APPEND ${folder} {${mail.length}+}\r\n${mail}`;
}

/** How a door reads the user's mailbox. */
export function optionsOfCyrus(
  { port }: { readonly port: number },
  given: Partial<ImapOptions> = {},
): ImapOptions {
  return {
    ...{ door: 'imap', host: '127.0.0.1', port, user: 'reports', mailbox: 'INBOX' },
    ...{ security: 'none', credentials: { password: 'x' }, done: 'move', ...given },
  };
}
