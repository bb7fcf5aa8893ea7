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
  rm,
  writeFile,
} from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { ImapOptions } from '../../src/intake/doors/imap/options.ts';
import { aCertificate } from '../support/certificate.ts';

/** Certificates are for this name, and not for the address that tests connect to. */
const HOST = 'localhost';
const USER = 'reports';
const PASSWORD = 'correct horse';

/** Dovecot refuses to open mailboxes as root. */
const NOBODY = 65_534;

/** The users that Debian's package makes; Dovecot itself has to be started as root. */
function toConfig(folder: string, { imap, imaps }: { imap: number; imaps: number }): string {
  return `
protocols = imap
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/dovecot.log
listen = 127.0.0.1
ssl = yes
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
disable_plaintext_auth = no
auth_mechanisms = plain login
auth_failure_delay = 0
mail_location = maildir:${folder}/mail
mail_max_userip_connections = 100
passdb {
  driver = passwd-file
  args = scheme=PLAIN ${folder}/passwd
}
userdb {
  driver = static
  args = uid=${NOBODY} gid=${NOBODY} home=${folder}/mail
}
service anvil {
  chroot =
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${imap}
  }
  inet_listener imaps {
    port = ${imaps}
    ssl = yes
  }
}
namespace inbox {
  inbox = yes
}
`;
}

export class Dovecot {
  readonly folder: string;
  readonly ports: { readonly imap: number; readonly imaps: number };
  /** The certificate, which is its own authority. */
  readonly ca: string;
  #process: ChildProcess | undefined;

  private constructor(folder: string, ports: { imap: number; imaps: number }, ca: string) {
    this.folder = folder;
    this.ports = ports;
    this.ca = ca;
  }

  /** A server of its own for a test, with one empty mailbox. */
  static async start({ host = HOST } = {}): Promise<Dovecot> {
    const folder = await mkdtemp(join(tmpdir(), 'plumbline-dovecot-'));
    // Dovecot's own user reads the passwords.
    await chmod(folder, 0o755);
    const { cert, key } = aCertificate(host);
    const ports = { imap: await findPort(), imaps: await findPort() };
    const server = new Dovecot(folder, ports, cert);
    await writeFile(join(folder, 'cert.pem'), cert);
    await writeFile(join(folder, 'key.pem'), key);
    await writeFile(join(folder, 'passwd'), `${USER}:{PLAIN}${PASSWORD}\n`);
    await writeFile(join(folder, 'dovecot.conf'), toConfig(folder, ports));
    for (const name of ['mail', 'mail/cur', 'mail/new', 'mail/tmp']) {
      await mkdir(join(folder, name));
      await chown(join(folder, name), NOBODY, NOBODY);
    }
    onTestFinished(async ({ task }) => {
      await server.stop();
      if (task.result?.state === 'fail')
        process.stderr.write((await server.readLog()).slice(-3_000));
      await rm(folder, { recursive: true, force: true });
    });
    await server.resume();
    return server;
  }

  /** Starts again after `stop`. It keeps its caller's pipes, so it gets none. */
  async resume(): Promise<void> {
    const log = await open(join(this.folder, 'stdio.log'), 'a');
    const args = ['-F', '-c', join(this.folder, 'dovecot.conf')];
    this.#process = spawn('/usr/sbin/dovecot', args, { stdio: ['ignore', log.fd, log.fd] });
    await log.close();
    for (let i = 0; !(await isOpen(this.ports.imap)); i += 1) {
      if (i === 100) throw new Error(`Dovecot does not start:\n${await this.readLog()}`);
      await sleep(100);
    }
  }

  async stop(): Promise<void> {
    const running = this.#process;
    if (running?.exitCode !== null) return;
    running.kill('SIGTERM');
    await once(running, 'exit');
  }

  async readLog(): Promise<string> {
    const logs = ['dovecot.log', 'stdio.log'].map((name) => join(this.folder, name));
    const texts = await Promise.all(logs.map((log) => readFile(log, 'utf8').catch(() => '')));
    return texts.join('');
  }

  /** Puts mails into the mailbox, as a delivery agent does. */
  async add(mails: Iterable<string | Uint8Array>): Promise<void> {
    let count = 0;
    for (const mail of mails) {
      count += 1;
      const name = `${Date.now()}.${process.pid}_${count}_${Math.random().toString(36).slice(2)}.test`;
      await writeFile(join(this.folder, 'mail', 'new', name), mail);
    }
  }

  /** How many mails a folder has, and how many of them have a flag (`S` seen, `F` flagged). */
  async count(folder = '', flag = ''): Promise<number> {
    const lists = await Promise.all(
      ['cur', 'new'].map((name) =>
        readdir(join(this.folder, 'mail', folder, name)).catch((): string[] => []),
      ),
    );
    const isFlagged = (name: string) => flag === '' || (name.split(':2,')[1] ?? '').includes(flag);
    return lists.flat().filter(isFlagged).length;
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

/** How a door reads the server's mailbox. */
export function optionsOf({ ports, ca }: Dovecot, given: Partial<ImapOptions> = {}): ImapOptions {
  return {
    host: 'localhost',
    port: ports.imaps,
    user: USER,
    mailbox: 'INBOX',
    security: 'tls',
    credentials: { password: PASSWORD },
    done: 'move',
    ca,
    ...given,
  };
}

/** A port of the loopback address that nothing listens on. */
export async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
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
