/**
 * Ten honest mails among hostile ones of a kilobyte: how long each of them takes from when it came until its report is
 * stored, and the CPU in that time. `npm run bench -- hostile fairness [hostile mails] [door]`; IMAP needs root and
 * Debian's dovecot-imapd.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { createTransport } from 'nodemailer';
import { openStore } from '../../../src/store/engine/open.ts';
import { Dovecot } from '../../dovecot/dovecot.ts';
import { findFreePort } from '../../free-port.ts';
import { makeDomains } from '../beside/domains.ts';
import { print } from '../print.ts';
import { readChildrenMicros, readOwnMicros } from '../processes.ts';
import { renderReport } from '../report-xml.ts';
import { toImapEnv, toMail, toSmtpEnv } from './doors.ts';
import { BIN } from './measuring.ts';

const HOSTILE_MAILS = 10_000;
const HONEST_MAILS = 10;
const SECTIONS = 4_000_000;
const LOOK_MS = 100;

interface Sender {
  readonly address: string;
  /** As the server of a mailbox writes it. */
  readonly received: string;
}

/** Two networks of documentation, and two of this machine. */
const toSender = (address: string, network: string): Sender => ({
  address,
  received: `Received: from a.example (a.example [${network}.1])\r\n by mx.example.com; now`,
});
const HOSTILE = toSender('127.0.0.1', '203.0.113');
const HONEST = toSender('127.0.1.1', '198.51.100');

/** Brings mails one after the other; resolves when the door has them. */
type Bring = (sender: Sender, mails: readonly string[]) => Promise<unknown>;

interface Door {
  readonly name: 'smtp' | 'imap';
  readonly env: NodeJS.ProcessEnv;
  readonly bring: Bring;
  readonly close: () => Promise<void>;
}

export async function benchFairness([
  mails = `${HOSTILE_MAILS}`,
  only = '',
]: readonly string[]): Promise<void> {
  const hostile = renderHostile();
  print(`\n${HONEST_MAILS} honest mails among ${mails} hostile ones of ${hostile.length} bytes`);
  for (const open of [openSmtp, openImap]) {
    const door = await open();
    const isWanted = only === '' || only === door?.name;
    if (door !== undefined && isWanted) await benchDoor(door, hostile, Number(mails));
    await door?.close();
  }
}

function renderHostile(): string {
  const [xml = ''] = renderReport({ number: 0, records: 1 }).split('</feedback>');
  return toMail(gzipSync(gzipSync(`${xml}${'<![CDATA[]]>'.repeat(SECTIONS)}</feedback>`)));
}

async function openSmtp(): Promise<Door> {
  const port = await findFreePort();
  const env = toSmtpEnv(port);
  const bring: Bring = async ({ address }, mails) => {
    while (!(await isListening(port))) await sleep(LOOK_MS);
    const pool = { pool: true, maxConnections: 5, maxMessages: 50 } as const;
    const server = { host: '127.0.0.1', port, ignoreTLS: true, localAddress: address };
    const transport = createTransport({ ...server, ...pool });
    const envelope = { from: 'a@reporter.example', to: [env.PLUMBLINE_SMTP_RECIPIENTS] };
    await Promise.all(mails.map((raw) => transport.sendMail({ envelope, raw })));
    transport.close();
  };
  return { name: 'smtp', env, bring, close: async () => undefined };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}

async function openImap(): Promise<Door | undefined> {
  if (!existsSync('/usr/sbin/dovecot')) return undefined;
  const imap = await Dovecot.start();
  const bring: Bring = ({ received }, mails) =>
    imap.add(mails.map((mail) => `${received}\r\n${mail}`));
  return { name: 'imap', env: toImapEnv(imap), bring, close: () => imap.remove() };
}

async function benchDoor(
  { name, env, bring }: Door,
  hostile: string,
  mails: number,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'));
  const database = join(folder, 'fairness.db');
  await makeDomains(database);
  const { PLUMBLINE_LOG_LEVEL = 'error' } = process.env;
  const child = spawn(process.execPath, [BIN, 'work', '--json'], {
    env: {
      ...{ ...process.env, PLUMBLINE_LOG_LEVEL, PLUMBLINE_DNS_CHECKS: 'off' },
      ...{ PLUMBLINE_DATABASE: database, ...env },
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  const pid = Number(child.pid);
  const clock = () => ({
    ms: performance.now(),
    cpuMs: (readOwnMicros(pid) + readChildrenMicros(pid)) / 1_000,
  });
  const came: ReturnType<typeof clock>[] = [];
  const bringing = (async () => {
    for (let number = 1; number <= HONEST_MAILS; number += 1) {
      await bring(HOSTILE, Array(Math.ceil(mails / HONEST_MAILS)).fill(hostile));
      await bring(HONEST, [toMail(gzipSync(renderReport({ number, records: 10 })))]);
      came.push(clock());
    }
  })();
  const { db, close } = await openStore(database);
  const count = async (table: 'report' | 'inbox_mail') => {
    const select = db.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('rows'));
    const done = table === 'report' ? select : select.where('state' as never, '=', 'done' as never);
    return (await done.executeTakeFirstOrThrow()).rows;
  };
  for (let stored = 0; stored < HONEST_MAILS; ) {
    await sleep(LOOK_MS);
    const now = clock();
    for (const rows = await count('report'); stored < rows; stored += 1) {
      const { ms, cpuMs } = came[stored] ?? now;
      const [s, cpu] = [(now.ms - ms) / 1_000, (now.cpuMs - cpuMs) / 1_000];
      print(
        `  ${name}: honest mail ${stored + 1} stored ${s.toFixed(1)} s after it came, ${cpu.toFixed(1)} s of CPU; ` +
          `${await count('inbox_mail')} mails done, ${(now.cpuMs / 1_000).toFixed(0)} s of CPU in all`,
      );
    }
  }
  await bringing;
  await close();
  child.kill('SIGTERM');
  await ended;
  await rm(folder, { recursive: true });
}
