/**
 * What reading a large mailbox by IMAP takes: mails a second, memory, and how long a polling partner of the same
 * process waits meanwhile. `npm run bench -- mail`, as root, with Debian's dovecot-imapd.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Db } from '../../../src/store/engine/database.ts';
import { openStore } from '../../../src/store/engine/open.ts';
import { Dovecot, PASSWORD, USER } from '../../dovecot/dovecot.ts';
import { SERVER_ENV } from '../../server-env.ts';
import { makeDomains, toRequests } from '../beside/domains.ts';
import { poll } from '../beside/poll.ts';
import { tell } from '../beside/tell.ts';
import { readUsage } from '../cpu.ts';
import { print } from '../print.ts';
import { renderReport } from '../report-xml.ts';

const MAILS = [5_000, 10_000, 20_000];
const RECORDS = 3;
const IDLE_MS = 10_000;
const LOOK_MS = 500;
const BIN = fileURLToPath(new URL('../../../bin/plumbline.js', import.meta.url));

export async function benchMail(only = ''): Promise<void> {
  print('\nA mailbox read by IMAP, beside 100 requests a second to the same process');
  for (const mails of only === '' ? MAILS : [Number(only)]) {
    const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'));
    const imap = await Dovecot.start();
    try {
      await imap.add(renderMails(mails));
      await measure(mails, imap, join(folder, 'mail.db'));
    } finally {
      await imap.remove();
      await rm(folder, { recursive: true });
    }
  }
}

function* renderMails(count: number): Generator<string> {
  for (let number = 1; number <= count; number += 1) {
    const bytes = gzipSync(renderReport({ number, records: RECORDS }), { level: 1 });
    const lines = [
      ...['From: noreply@reporter.example', 'To: dmarc@example.com', 'MIME-Version: 1.0'],
      ...['Content-Type: application/gzip', 'Content-Transfer-Encoding: base64', ''],
      bytes.toString('base64').replace(/.{76}/g, '$&\r\n'),
    ];
    yield `${lines.join('\r\n')}\r\n`;
  }
}

async function measure(mails: number, imap: Dovecot, database: string): Promise<void> {
  const { key, domainIds } = await makeDomains(database);
  const own = {
    ...{ PLUMBLINE_DATABASE: database, PLUMBLINE_PORT: '0', PLUMBLINE_LOG_LEVEL: 'warn' },
    ...SERVER_ENV,
  };
  const many = { PLUMBLINE_REQUESTS_PER_KEY: '1000000', PLUMBLINE_REQUESTS_PER_IP: '1000000' };
  // Of a machine with much other work, so many answers are late.
  const late = { PLUMBLINE_MAX_CONNECTIONS_PER_IP: '1000' };
  const url = `imap://${USER}@127.0.0.1:${imap.ports.imap}/INBOX`;
  const door = { PLUMBLINE_IMAP_URL: url, PLUMBLINE_IMAP_PASSWORD: PASSWORD };

  const idle = await serving({ ...own, ...many, ...late }, async ({ url }) =>
    poll(await toRequests(url, key, domainIds), sleep(IDLE_MS)),
  );
  const store = await openStore(database);
  const startedAt = performance.now();
  const [busy, memory] = await serving(
    { ...own, ...many, ...late, ...door },
    async ({ url, pid }) => {
      const memory: number[] = [];
      const requests = await toRequests(url, key, domainIds);
      return [await poll(requests, untilRead(store.db, { mails, pid, memory })), memory] as const;
    },
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  await store.close();
  print(
    `  ${mails} mails: ${seconds.toFixed(1)} s, ${(mails / seconds).toFixed(0)} mails a second`,
  );
  print(`    memory ${toQuarters(memory)} MB, the most in each quarter of the time`);
  tell('idle', idle, idle);
  tell('meanwhile', busy, idle);
}

async function serving<T>(
  env: NodeJS.ProcessEnv,
  use: (server: { url: string; pid: number }) => Promise<T>,
): Promise<T> {
  const server = spawn(process.execPath, [BIN, 'serve', '--json'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(server, 'exit');
  try {
    const [line] = await once(server.stdout, 'data');
    return await use({ url: JSON.parse(String(line)).url, pid: Number(server.pid) });
  } finally {
    server.kill('SIGTERM');
    await ended;
  }
}

/** Until each mail is read and its report is stored. */
async function untilRead(
  db: Db,
  { mails, pid, memory }: { mails: number; pid: number; memory: number[] },
): Promise<void> {
  for (let done = 0; done < mails; ) {
    await sleep(LOOK_MS);
    memory.push(readUsage(pid).megabytes);
    done = await countDone(db);
  }
}

async function countDone(db: Db): Promise<number> {
  const { mails } = await db
    .selectFrom('inbox_mail')
    .select((eb) => eb.fn.countAll().as('mails'))
    .where('state', '=', 'done')
    .executeTakeFirstOrThrow();
  return Number(mails);
}

function toQuarters(memory: readonly number[]): string {
  const size = Math.ceil(memory.length / 4);
  const quarters = [0, 1, 2, 3].map((i) => memory.slice(i * size, (i + 1) * size));
  return quarters.map((quarter) => Math.max(...quarter).toFixed(0)).join(', ');
}
