import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { aFolder } from '../support/command.ts';

const run = promisify(execFile);

/** Debian's, without changed roots, and without a service that listens. */
const SERVICES = [
  'pickup unix n - n 60 1 pickup',
  'cleanup unix n - n - 0 cleanup',
  'qmgr unix n - n 300 1 qmgr',
  'rewrite unix - - n - - trivial-rewrite',
  'bounce unix - - n - 0 bounce',
  'defer unix - - n - 0 bounce',
  'trace unix - - n - 0 bounce',
  'flush unix n - n 1000? 0 flush',
  'proxymap unix - - n - - proxymap',
  'smtp unix - - n - - smtp',
  'relay unix - - n - - smtp',
  'showq unix n - n - - showq',
  'error unix - - n - - error',
  'retry unix - - n - - error',
  'anvil unix - - n - 1 anvil',
  'scache unix - - n - 1 scache',
  'tlsmgr unix - - n 1000? 1 tlsmgr',
  'postlog unix-dgram n - n - 1 postlogd',
];

export interface Postfix {
  /** Puts a mail into the queue. */
  readonly queue: (mail: { readonly to: string; readonly raw: Uint8Array }) => Promise<void>;
  /** Begins to send what is in the queue. */
  readonly start: () => Promise<void>;
  /** Tries again at once, which it would do after minutes. */
  readonly flush: () => Promise<void>;
  /** Why a mail has this status, once for each time that one got it. */
  readonly list: (status: 'sent' | 'deferred' | 'bounced') => readonly string[];
}

/** By which a mail comes into the queue. */
interface Inbound {
  readonly port: number;
  /** Of a server of Postfix's policy protocol, which is asked after the last byte of each mail. */
  readonly policyPort: number;
}

/** A mail server of a test, with default settings, which passes all mail on to this port. As root. */
export async function aPostfix(port: number, inbound?: Inbound): Promise<Postfix> {
  const folder = await aFolder();
  const [config, queue, data, log] = ['config', 'queue', 'data', 'log'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  for (const path of [config, queue, data]) mkdirSync(path);
  for (const path of [folder, config, queue]) chmodSync(path, 0o755);
  execFileSync('chown', ['postfix', data]);
  const settings = {
    ...{ compatibility_level: '3.6', myhostname: 'relay.example', mydestination: '' },
    ...{ queue_directory: queue, data_directory: data, inet_interfaces: '127.0.0.1' },
    ...{ relayhost: `[127.0.0.1]:${port}`, disable_dns_lookups: 'yes' },
    ...{ maillog_file: log, maillog_file_prefixes: folder },
    ...(inbound && {
      smtpd_end_of_data_restrictions: `check_policy_service inet:127.0.0.1:${inbound.policyPort}`,
    }),
  };
  const services = inbound
    ? [...SERVICES, `127.0.0.1:${inbound.port} inet n - n - - smtpd`]
    : SERVICES;
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  writeFileSync(join(config, 'main.cf'), lines.join(''));
  writeFileSync(join(config, 'master.cf'), services.map((line) => `${line}\n`).join(''));
  const postfix = (command: string) => run('postfix', ['-c', config, command]);
  // Makes the folders of the queue.
  await postfix('check');
  onTestFinished(async () => {
    await postfix('stop').catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  });
  return {
    queue: async ({ to, raw }) => {
      const sendmail = spawn('sendmail', ['-C', config, '-f', 'noreply@relay.example', to], {
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      sendmail.stdin?.end(raw);
      await ended(sendmail);
    },
    start: async () => void (await postfix('start')),
    flush: async () => void (await run('postqueue', ['-c', config, '-f'])),
    list: (status) =>
      [...readFileSync(log, 'utf8').matchAll(/ status=(\w+) \((.*)\)$/gm)]
        .filter(([, logged]) => logged === status)
        .map(([, , why = '']) => why),
  };
}

async function ended(child: ChildProcess): Promise<void> {
  const code = await new Promise((resolve, reject) =>
    child.once('error', reject).once('exit', resolve),
  );
  if (code !== 0) throw new Error(`sendmail ended with ${code}.`);
}
