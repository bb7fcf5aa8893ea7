import { execFile } from 'node:child_process';
import { rm, rmdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { anAccount } from '../support/builders.ts';
import { aCommand, aFolder, printed } from '../support/command.ts';
import { aDisk } from '../support/disk.ts';
import { PATIENCE_MS } from '../support/every-suite.ts';
import { deliverMail } from '../support/inbox.ts';
import { aReceiver } from '../support/outbox.ts';
import { RULES, runPrometheus } from './prometheus.ts';

const PATIENCE = { timeout: PATIENCE_MS, interval: 200 };
const run = promisify(execFile);

test('promtool accepts the rules, and each fires for what it says', async () => {
  await run('promtool', ['check', 'rules', fileURLToPath(RULES)]);
  const tests = fileURLToPath(new URL('prometheus-rules.test.yml', import.meta.url));
  await run('promtool', ['test', 'rules', tests]);
});

test('a Prometheus that asks a server and a worker fires when a job cannot run, a door stops, the disk fills, and the worker is killed', async () => {
  const [servePort, workPort] = [await findFreePort(), await findFreePort()];
  const door = await aFolder();
  // The rule fires below a gigabyte.
  const disk = await aDisk(1_200);
  const backups = await aDisk(1);
  await writeFile(join(backups, 'full'), Buffer.alloc(2_000_000)).catch(({ code }) => code);
  const { start, env, withDb } = await aCommand({
    PLUMBLINE_DATABASE: join(disk, 'plumbline.db'),
    PLUMBLINE_WATCH: door,
    PLUMBLINE_BACKUP_TO: backups,
  });
  const ports: NodeJS.ProcessEnv = env;
  const begin = async (port: number, wanted: RegExp, ...args: string[]) => {
    ports['PLUMBLINE_METRICS_PORT'] = String(port);
    const child = start(...args);
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stderr.resume();
    await printed(child, wanted);
    return child;
  };
  await begin(servePort, /listens on/, 'serve', '--only', 'api');
  const worker = await begin(workPort, /works on/, 'work');
  const { count, isFiring } = await runPrometheus([servePort, workPort]);
  await expect.poll(() => count('up == 1'), PATIENCE).toBe(2);
  const evaluated = 'plumbline_oldest_evaluation_age_seconds';
  await expect.poll(() => count(evaluated), PATIENCE).toBe(2);
  const failing = 'alertname="PlumblineDoorFailing",door="folder"';
  const late = 'alertname="PlumblineAlertsNotEvaluated"';
  const low = 'alertname="PlumblineDiskLow"';
  await expect.poll(() => count('plumbline_disk_free_bytes > 1e9'), PATIENCE).toBeGreaterThan(0);
  expect(await Promise.all([failing, late, low].map(isFiring))).toEqual([0, 0, 0]);
  const job = 'alertname="PlumblineJobFailing",exported_job="backup"';
  await expect.poll(() => isFiring(job), PATIENCE).toBeGreaterThan(0);

  await rmdir(door);
  await expect.poll(() => isFiring(failing), PATIENCE).toBe(1);

  const filling = join(disk, 'filling');
  await writeFile(filling, Buffer.alloc(300_000_000));
  await expect.poll(() => isFiring(low), PATIENCE).toBe(1);
  // Until nothing more can be written.
  const full = await writeFile(join(disk, 'rest'), Buffer.alloc(1_200_000_000)).catch(
    ({ code }) => code,
  );
  expect(full).toBe('ENOSPC');
  await expect.poll(() => count('plumbline_disk_free_bytes < 1e6'), PATIENCE).toBe(2);
  expect(await Promise.all([low, failing].map(isFiring))).toEqual([1, 1]);
  for (const name of ['filling', 'rest']) await rm(join(disk, name));
  await expect.poll(() => isFiring(low), PATIENCE).toBe(0);

  worker.kill('SIGKILL');
  const down = `alertname="PlumblineDown",instance="127.0.0.1:${workPort}"`;
  await expect.poll(() => isFiring(down), PATIENCE).toBe(1);
  // Three hours without a worker.
  const ran_at = `${new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 19)}Z`;
  await withDb((db) => db.write((tx) => tx.updateTable('lease').set({ ran_at }).execute()));
  await expect.poll(() => isFiring(late), PATIENCE).toBe(1);
});

const HOUR_MS = 3_600_000;
const before = (ms: number) => `${new Date(Date.now() - ms).toISOString().slice(0, 19)}Z`;

/** Nothing works here: a server that only answers, with what others have left. */
async function aNeglectedServer() {
  const command = await aCommand({ PLUMBLINE_REQUESTS_PER_IP: '1000000' });
  const { folder, run, withDb } = command;
  const env: NodeJS.ProcessEnv = command.env;
  const { key } = await withDb(async (db) => {
    const { id, key } = await anAccount(db);
    await deliverMail(db, { receivedAt: before(2 * HOUR_MS) });
    await deliverMail(db, { receivedAt: before(2 * HOUR_MS) });
    await aReceiver(db, id);
    await db.write(async (tx) => {
      const [first] = await tx.selectFrom('inbox_mail').select('seq').orderBy('seq').execute();
      await tx
        .updateTable('inbox_mail')
        .set({ state: 'stuck' })
        .where('seq', '=', first?.seq ?? 0)
        .execute();
      await tx
        .updateTable('receiver')
        .set({ due_at_ms: Date.now() - HOUR_MS })
        .execute();
    });
    return { key };
  });
  const mail = join(folder, 'mail.eml');
  await writeFile(
    mail,
    'Subject: Report domain: example.com Submitter: reporter.example\r\n\r\nHello',
  );
  expect((await run(['ingest', mail])).stdout).toContain('rejected');
  const backups = await aFolder();
  const backup = join(backups, 'plumbline-2026-03-15.db');
  await writeFile(backup, 'a backup');
  const old = new Date(Date.now() - 72 * HOUR_MS);
  await utimes(backup, old, old);
  const port = await findFreePort();
  Object.assign(env, { PLUMBLINE_BACKUP_TO: backups, PLUMBLINE_METRICS_PORT: `${port}` });
  // Nothing listens there.
  env['PLUMBLINE_REDIS'] = `redis://127.0.0.1:${await findFreePort()}`;
  const server = command.start('serve', '--only', 'api', '--json');
  onTestFinished(() => void server.kill('SIGKILL'));
  server.stderr.resume();
  const { url } = JSON.parse(await printed(server, /"url".*\n/));
  const ask = () =>
    fetch(`${url}/v1/external/reports`, { headers: { authorization: `Bearer ${key}` } });
  return { port, server, ask, path: join(folder, 'data/plumbline.db') };
}

test('a Prometheus fires for mails that wait or are stuck, webhooks, backups, a large log, errors and a server that is slow', async () => {
  const { port, server, ask, path } = await aNeglectedServer();
  const { isFiring } = await runPrometheus([port]);
  const fires = (alert: string) =>
    expect.poll(() => isFiring(`alertname="Plumbline${alert}"`), PATIENCE).toBeGreaterThan(0);
  const left = [
    'MailsNotRead',
    'MailsStuck',
    'ReportsNotFound',
    'DeliveriesLate',
    'BackupOld',
    'LimitsAlone',
  ];
  await Promise.all(left.map(fires));
  const later = ['LogLarge', 'Errors', 'Slow', 'Down'];
  for (const alert of later) expect(await isFiring(`alertname="Plumbline${alert}"`), alert).toBe(0);

  const [reader, writer] = [new Database(path), new Database(path)];
  onTestFinished(() => [reader, writer].forEach((connection) => void connection.close()));
  reader.exec('begin; select count(*) from account');
  writer.pragma('synchronous = off');
  writer.exec('create table large (bytes)');
  for (let i = 0; i < 70; i++) writer.exec('insert into large values (zeroblob(16000000))');
  await fires('LogLarge');

  writer.exec('alter table api_key rename to lost');
  const asking = setInterval(() => void ask().then((answer) => answer.text()), 100);
  onTestFinished(() => clearInterval(asking));
  await fires('Errors');

  // The lag of 99 in 100 is told, measured each 10 ms while the server runs, since it was asked two seconds ago: of some sixty
  // measurements one or two have to be of a stop.
  let isStopped = false;
  let stopping: NodeJS.Timeout;
  const change = () => {
    isStopped = !isStopped;
    server.kill(isStopped ? 'SIGSTOP' : 'SIGCONT');
    stopping = setTimeout(change, isStopped ? 700 : 300);
  };
  change();
  onTestFinished(() => clearTimeout(stopping));
  await fires('Slow');
});
