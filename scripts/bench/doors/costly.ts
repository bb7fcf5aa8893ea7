/**
 * `npm run bench -- costly`: the CPU that `plumbline work` takes from the acceptance of an honest mail until it is stored, behind
 * costly ones of strangers that came by SMTP before it, each from an address of the loopback range.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createTransport } from 'nodemailer';
import pLimit from 'p-limit';
import { generateHostileMails } from '../../hostile/generated.ts';
import { makeOwner, OWN, serve, spawnCommand } from '../checkout.ts';
import { type Cost, printCosts } from '../compare.ts';
import { SHAPES, toDomainName, toMadeReport } from '../databases.ts';
import { onSqlite } from '../engines.ts';
import { MAIL } from '../files.ts';
import { readChildrenMicros, readOwnMicros, readPeakMegabytes } from '../processes.ts';
import { renderReport } from '../reports.ts';
import { ADDRESS, listenForMail } from './doors.ts';
import { countReports, until } from './take.ts';

const MAILS = 200;
const GENERATED = 40;
const SEED = 7;
/** How many mails come at the same time. */
const SENDERS = 20;
const ENVELOPE = { from: 'noreply@reporter.example', to: [ADDRESS] };
const SECTIONS = '<![CDATA[]]>'.repeat(4_000_000);

type Mail = readonly [remoteAddress: string, bytes: Buffer];

/** A report of 48 MB in two gzips of a kilobyte, which takes seconds to parse. */
function toCostlyMail(i: number): Buffer {
  const report = renderReport(toMadeReport(SHAPES.domain, i));
  const padded = report.replace('</feedback>', `${SECTIONS}</feedback>`);
  const lines = [
    'From: reports@stranger.example',
    'Content-Type: application/gzip',
    'Content-Transfer-Encoding: base64',
    '',
    ...(gzipSync(gzipSync(padded))
      .toString('base64')
      .match(/.{1,76}/g) ?? []),
  ];
  return Buffer.from(lines.join('\r\n'));
}

const ATTACKS: readonly [name: string, mails: () => Mail[]][] = [
  ['no mail', () => []],
  [`${MAILS} costly mails of one network`, () => toMails((i) => `127.1.1.${i + 1}`)],
  [`${MAILS} costly mails of as many networks`, () => toMails((i) => `127.1.${i + 1}.1`)],
  [
    `${GENERATED} generated mails (seed ${SEED}) of as many networks`,
    () =>
      generateHostileMails(GENERATED, SEED).map(({ bytes }, i) => [`127.1.${i + 1}.1`, bytes()]),
  ],
];

function toMails(toAddress: (i: number) => string): Mail[] {
  const costly = toCostlyMail(0);
  return Array.from({ length: MAILS }, (_, i) => [toAddress(i), costly]);
}

export async function benchCostly(): Promise<void> {
  const costs: Cost[] = [];
  for (const [, mails] of ATTACKS) costs.push(await measure(mails()));
  printCosts(
    'costly mails by SMTP, SQLite: until an honest one behind them is stored',
    ATTACKS.map(([name]) => name),
    costs,
  );
}

async function measure(mails: readonly Mail[]): Promise<Cost> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-costly-'));
  const database = await onSqlite(folder).create('costly');
  const { key } = await makeOwner(OWN, database, [toDomainName(0)]);
  const { port, env } = await listenForMail();
  const worker = spawnCommand(OWN, ['work'], { ...env, PLUMBLINE_DATABASE: database });
  worker.stdout?.resume();
  const ended = once(worker, 'exit');
  const api = await serve(OWN, database, 0);
  const pid = Number(worker.pid);
  const readMicros = () => readOwnMicros(pid) + readChildrenMicros(pid);
  const send = ([localAddress, raw]: Mail) => sendFrom(localAddress, port, raw);
  const honest = (i: number): Mail => [
    '127.9.9.9',
    MAIL.toBytes(toMadeReport(SHAPES.domain, i + 1)),
  ];
  const isStored = (reports: number) => async () => (await countReports(api.url, key)) >= reports;
  try {
    // A port is not open at once, and most modules are loaded for the first mail.
    await until(
      () =>
        send(honest(0)).then(
          () => true,
          () => false,
        ),
      'The door does not open.',
    );
    await until(isStored(1), 'The first mail was not stored.');
    const limit = pLimit(SENDERS);
    await Promise.all(mails.map((mail) => limit(send, mail)));
    await send(honest(1));
    const [micros, begun] = [readMicros(), performance.now()];
    await until(isStored(2), 'The honest mail was not stored.');
    return {
      'seconds of CPU': (readMicros() - micros) / 1_000_000,
      seconds: (performance.now() - begun) / 1_000,
      'MB of memory': readPeakMegabytes(pid),
    };
  } finally {
    await api.stop();
    worker.kill();
    await ended;
    await rm(folder, { recursive: true });
  }
}

/** A mail that the door refuses is not in the inbox, and costs what it did. */
async function sendFrom(localAddress: string, port: number, raw: Buffer): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port, localAddress, ignoreTLS: true });
  try {
    await transport.sendMail({ envelope: ENVELOPE, raw });
  } finally {
    transport.close();
  }
}
