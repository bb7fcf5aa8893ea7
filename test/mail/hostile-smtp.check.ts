import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { HOSTILE_CONTAINERS } from '../../scripts/hostile/containers.ts';
import { HOSTILE_MAILS } from '../../scripts/hostile/mail.ts';
import { SERVER_ENV } from '../../scripts/server-env.ts';
import { aCommand, finish, printed } from '../support/command.ts';
import { aReportMail } from '../support/inbox.ts';
import { base64, mail, multipart, text } from '../support/mail.ts';
import { compileCommand } from './compiled.ts';
import { flood, sendSlowly } from './flood.ts';

const ADDRESS = 'dmarc@mx.plumbline.example';
/** A minute; a machine with much other work needs many times as long. */
const MAX_MS = 600_000;
const PATIENT = { timeout: 550_000, interval: 500 };
const MIB = 1024 * 1024;
/** Of the process that serves. The process that parses has a limit of its own (parser-watchdog.ts). */
const MAX_PEAK_MB = 250;
/** What the door says: stored; too large; bare line breaks in it. */
const ANSWERS = [250, 552, 554];

const inMail = (bytes: Buffer) => mail(base64(bytes));
const headersOf = (bytes: number) => `X-Filling: ${'y'.repeat(980)}\r\n`.repeat(bytes / 1_000);

function aNestedMail(levels: number): Buffer {
  let inner = aReportMail('nested');
  for (let level = 0; level < levels; level += 1)
    inner = mail({ headers: ['Content-Type: message/rfc822'], body: inner.toString('latin1') });
  return inner;
}

/** Each is made when it is sent, so that they are not in the memory of this process together. */
const MAILS: readonly (() => Buffer)[] = [
  ...HOSTILE_MAILS.map(({ bytes }) => bytes),
  ...[...HOSTILE_MAILS, ...HOSTILE_CONTAINERS].map(
    ({ bytes }) =>
      () =>
        inMail(bytes()),
  ),
  () => mail(multipart(Array.from({ length: 10_000 }, () => text('x')))),
  () => aNestedMail(50),
  () => Buffer.from(`${headersOf(24 * MIB)}\r\nx\r\n`),
  () => Buffer.from(`${headersOf(30 * MIB)}\r\nx\r\n`),
];

/** The most memory that a process has had, in megabytes, by Linux. */
function readPeak(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1024);
}

test(
  'Hostile mails by SMTP, beside 35 that never end and after 1,000 connections, leave the API answering and no mail unread, in at most 250 MB',
  async () => {
    const port = await findFreePort();
    const settings = {
      PLUMBLINE_SMTP_PORT: String(port),
      PLUMBLINE_SMTP_HOST: '127.0.0.1',
      PLUMBLINE_SMTP_NAME: 'mx.plumbline.example',
      PLUMBLINE_REPORT_ADDRESS: ADDRESS,
      PLUMBLINE_REQUESTS_PER_KEY: '1000000',
      PLUMBLINE_REQUESTS_PER_IP: '1000000',
      PLUMBLINE_LOG_LEVEL: 'warn',
      ...SERVER_ENV,
    };
    const command = await aCommand(settings, await compileCommand());
    await command.json('account', 'create', 'A');
    await command.json('domain', 'add', 'A', 'example.com');
    const { key } = await command.json('key', 'create', 'A', 'hostile');
    const server = command.start('serve');
    const ended = finish(server);
    const said = await printed(server, /listens on \S+/);
    const url = `${/listens on (\S+)/.exec(said)?.[1]}/v1/external/domains`;

    const idleMb = readPeak(server.pid);

    const statuses: number[] = [];
    const isDone = new AbortController();
    const polling = (async () => {
      while (!isDone.signal.aborted) {
        const headers = { authorization: `Bearer ${key}` };
        const answer = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) });
        await answer.arrayBuffer();
        statuses.push(answer.status);
        await sleep(50);
      }
    })();
    // A failure is seen at the end, when it is waited for.
    polling.catch(() => {});
    onTestFinished(() => {
      isDone.abort();
      server.kill('SIGKILL');
    });

    const transport = createTransport({
      ...{ host: '127.0.0.1', port, ignoreTLS: true },
      ...{ pool: true, maxConnections: 4 },
    });
    onTestFinished(() => transport.close());
    const send = async (raw: Buffer): Promise<number> => {
      const envelope = { from: 'noreply@reporter.example', to: [ADDRESS] };
      return await transport.sendMail({ envelope, raw }).then(
        () => 250,
        (error: { responseCode?: number }) => error.responseCode ?? 0,
      );
    };
    const greeted = await flood(port);
    expect(greeted).toBeGreaterThan(0);
    expect(greeted).toBeLessThan(1_000);
    await sendSlowly(port, ADDRESS);

    const answers: number[] = [];
    const waiting = [...MAILS];
    const sendAll = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        answers.push(await send(next()));
    };
    await Promise.all([sendAll(), sendAll(), sendAll()]);
    expect(answers.filter((answer) => !ANSWERS.includes(answer))).toEqual([]);
    expect(await send(aReportMail('after-all'))).toBe(250);

    const accepted = answers.filter((answer) => answer === 250).length + 1;
    const listDone = async () => {
      const mails = await command.json('inbox', 'list', '--limit', '200');
      return mails.filter(({ state }: { state: string }) => state === 'done').length;
    };
    await expect.poll(listDone, PATIENT).toBe(accepted);
    isDone.abort();
    await polling;
    const peakMb = readPeak(server.pid);
    const figures = {
      greeted,
      mails: MAILS.length,
      accepted,
      requests: statuses.length,
      idleMb,
      peakMb,
    };
    process.stdout.write(`${JSON.stringify(figures)}\n`);
    server.kill('SIGTERM');
    expect((await ended).status).toBe(0);

    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect(peakMb).toBeLessThanOrEqual(MAX_PEAK_MB);
    const report = await command.withDb((db) =>
      db.selectFrom('report').select('id').where('report_id', '=', 'after-all').execute(),
    );
    expect(report).toHaveLength(1);
  },
  MAX_MS,
);
