/** Debian's Dovecot with one mailbox, started as root: an IMAP server for checks and for `npm run bench -- doors`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../../scripts/free-port.ts';
import { MAIL_USER, type Tokens, toConfig, toTokenConfig } from './config.ts';

export const USER = 'reports';
export const PASSWORD = 'correct horse';
const START_TRIES = 300;

interface Given {
  /** In PEM. Without it there is no TLS. */
  readonly certificate?: { readonly cert: string; readonly key: string } | undefined;
  readonly tokens?: Tokens | undefined;
}

export class Dovecot {
  readonly folder: string;
  readonly ports: { readonly imap: number; readonly imaps: number };
  #process: ChildProcess | undefined;
  #added = 0;

  private constructor(folder: string, ports: { imap: number; imaps: number }) {
    this.folder = folder;
    this.ports = ports;
  }

  /** A server of its own with one empty mailbox, until `remove`. */
  static async start({ certificate, tokens }: Given = {}): Promise<Dovecot> {
    const folder = await mkdtemp(join(tmpdir(), 'plumbline-dovecot-'));
    // Dovecot's own user reads the passwords.
    await chmod(folder, 0o755);
    const ports = { imap: await findFreePort(), imaps: await findFreePort() };
    const server = new Dovecot(folder, ports);
    const hasTls = certificate !== undefined;
    await server.#write('dovecot.conf', toConfig(folder, { ports, hasTls, tokens }));
    await server.#write('passwd', `${USER}:{PLAIN}${PASSWORD}\n`);
    if (tokens !== undefined) await server.#write('oauth2.conf', toTokenConfig(tokens));
    if (certificate !== undefined) await server.writeCertificate(certificate);
    for (const name of ['mail', 'mail/cur', 'mail/new', 'mail/tmp']) {
      await mkdir(join(folder, name));
      await chown(join(folder, name), MAIL_USER.uid, MAIL_USER.gid);
    }
    await server.resume();
    return server;
  }

  #write(name: string, text: string): Promise<void> {
    return writeFile(join(this.folder, name), text);
  }

  /** The server has it after `stop` and `resume`. */
  async writeCertificate({ cert, key }: { cert: string; key: string }): Promise<void> {
    await this.#write('cert.pem', cert);
    await this.#write('key.pem', key);
  }

  /** Starts again after `stop`. It keeps its caller's pipes, so it gets none. */
  async resume(): Promise<void> {
    const log = await open(join(this.folder, 'stdio.log'), 'a');
    const args = ['-F', '-c', join(this.folder, 'dovecot.conf')];
    this.#process = spawn('/usr/sbin/dovecot', args, { stdio: ['ignore', log.fd, log.fd] });
    await log.close();
    for (let i = 0; !(await isOpen(this.ports.imap)); i += 1) {
      if (i === START_TRIES) throw new Error(`Dovecot does not start:\n${await this.readLog()}`);
      await sleep(100);
    }
  }

  async stop(): Promise<void> {
    const running = this.#process;
    if (running?.exitCode !== null) return;
    running.kill('SIGTERM');
    await once(running, 'exit');
  }

  /** Stops the server, and removes all that it has written. */
  async remove(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  async readLog(): Promise<string> {
    const logs = ['dovecot.log', 'stdio.log'].map((name) => join(this.folder, name));
    const texts = await Promise.all(logs.map((log) => readFile(log, 'utf8').catch(() => '')));
    return texts.join('');
  }

  /** Puts mails into the mailbox, as a delivery agent does. */
  async add(mails: Iterable<string | Uint8Array>): Promise<void> {
    for (const mail of mails) {
      this.#added += 1;
      const name = `${Date.now()}.${process.pid}_${this.#added}.test`;
      // A file in `new` is whole from its first moment.
      await writeFile(join(this.folder, 'mail', 'tmp', name), mail);
      await rename(join(this.folder, 'mail', 'tmp', name), join(this.folder, 'mail', 'new', name));
    }
  }

  /** How many mails a folder has, and how many of them have a flag (`S` seen, `F` flagged). */
  async count(folder = '', flag = ''): Promise<number> {
    const isFlagged = (path: string) => flag === '' || (path.split(':2,')[1] ?? '').includes(flag);
    return (await this.list(folder)).filter(isFlagged).length;
  }

  /** The paths of the mails of a folder. */
  async list(folder = ''): Promise<string[]> {
    const paths = ['cur', 'new'].map((name) => join(this.folder, 'mail', folder, name));
    const lists = await Promise.all(
      paths.map(async (path) => {
        const names = await readdir(path).catch((): string[] => []);
        return names.map((name) => join(path, name));
      }),
    );
    return lists.flat();
  }

  /** Gives the mails new UIDs, as a restored or recreated mailbox has. */
  async renumber(): Promise<void> {
    await this.stop();
    for (const name of await readdir(join(this.folder, 'mail')))
      if (name.startsWith('dovecot'))
        await rm(join(this.folder, 'mail', name), { recursive: true });
    // UIDVALIDITY is a time in seconds.
    await sleep(1_100);
    await this.resume();
  }
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'data');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
