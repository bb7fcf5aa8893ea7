import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { toBackupName } from '../../src/domain/backup-names.ts';
import { addDays, toInstant } from '../../src/domain/instant.ts';
import { createParserProcess } from '../../src/intake/parser/parser-process.ts';
import { startJobs } from '../../src/jobs/jobs.ts';
import { prune } from '../../src/jobs/retention.ts';
import { readState } from '../../src/metrics/state.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { insertEvents } from '../../src/store/events/events.ts';
import { aBareAccount, aDomain, aReport, receive } from '../support/builders.ts';
import { aFolder } from '../support/command.ts';
import { aDatabasePath, aStore } from '../support/store.ts';

const DAY_MS = 86_400_000;

test('retention deleted without a trace', async () => {
  const store = await aStore();
  const { name: domain } = await aDomain(store.db, await aBareAccount(store.db));
  const toReport = (ago: number) => {
    const day = toInstant(new Date(Date.now() - ago * DAY_MS)).slice(0, 10);
    return aReport({ domain, reportId: `r${ago}`, begin: `${day}T00:00:00Z` });
  };
  const days = Array.from({ length: 100 }, (_, i) => 400 - i);
  await receive(store.db, days.map(toReport), toInstant(new Date()));
  const lines: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  const config = readConfig({ PLUMBLINE_KEEP_REPORTS_DAYS: '350' });
  const jobs = startJobs(config, { store, log, parser: createParserProcess() });
  onTestFinished(jobs.stop);
  const deleted = () => lines.filter(({ job }) => job === 'retention');
  await expect.poll(() => deleted().length).toBe(1);
  const left = await store.db.selectFrom('report').select('id').execute();
  expect(deleted()).toMatchObject([
    {
      level: 30,
      gone: { reports: 100 - left.length, originals: 0 },
      kept: { reportsDays: 350 },
    },
  ]);
  const told = store.db.selectFrom('audit').select('subject').where('action', '=', 'reports_aged');
  expect(await told.execute()).toEqual([{ subject: `${100 - left.length} reports` }]);
});

test('what strangers sent, old events, changes and mails, and old backups were deleted without a line', async () => {
  const store = await aStore();
  const { db } = store;
  const accountId = await aBareAccount(db);
  await aDomain(db, accountId);
  const old = '2020-01-01T00:00:00Z';
  await db.write(async (tx) => {
    const event = { accountId, type: 'alert.fired', at: old, data: '{}' } as const;
    await insertEvents(tx, [event, event]);
    // Receivers have been told of them.
    await tx.updateTable('event').set({ is_new: 0 }).execute();
    await tx.updateTable('change').set({ at: old }).execute();
  });
  const changes = (await db.selectFrom('change').select('number').execute()).length;
  const unclaimed = Array.from({ length: 3 }, (_, i) =>
    aReport({ domain: `unclaimed${i}.example` }),
  );
  await receive(db, unclaimed, old);
  const [folder, database] = [await aFolder(), aDatabasePath()];
  await (await openStore(database)).close();
  await writeFile(join(folder, toBackupName('2020-01-01')), '');
  const lines: { job?: string }[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  const config = readConfig({
    PLUMBLINE_DATABASE: database,
    PLUMBLINE_BACKUP_TO: folder,
    PLUMBLINE_BACKUP_KEEP: '1,0,0',
  });
  const jobs = startJobs(config, { store, log, parser: createParserProcess() });
  onTestFinished(jobs.stop);
  const find = (name: string) => lines.filter(({ job }) => job === name);
  const told = { unclaimed: { reports: 3 }, events: { events: 2 }, backup: { backups: 1 } };
  for (const [job, gone] of Object.entries({ ...told, changes: { changes: changes - 1 } })) {
    await expect.poll(() => find(job).length).toBe(1);
    expect(find(job)).toMatchObject([
      { level: 30, gone, kept: {}, msg: expect.stringMatching(/deleted/) },
    ]);
  }
});

test('a clock that is days ahead of all that came in deletes nothing, unless a backup is as new', async () => {
  const store = await aStore();
  const { name: domain } = await aDomain(store.db, await aBareAccount(store.db));
  const received = '2026-03-15T12:00:00Z';
  const days = Array.from({ length: 100 }, (_, i) => addDays('2025-01-01', i));
  const reports = days.map((day) => aReport({ domain, begin: `${day}T00:00:00Z` }));
  await receive(store.db, reports, received);
  const { kept } = readConfig({ PLUMBLINE_KEEP_REPORTS_DAYS: '350' });
  const folder = await aFolder();
  const pruneOn = (day: string, backupFolder?: string) => {
    const now = () => new Date(`${day}T12:00:00Z`);
    const mayGoOn = async () => true;
    return prune({ db: store.db, kept, now, mayGoOn, backupFolder });
  };
  for (const of of [undefined, folder])
    await expect(pruneOn('2026-03-19', of)).rejects.toThrow(
      'Nothing is deleted by age: the clock says 2026-03-19T12:00:00Z, and the newest report or backup is of 2026-03-15T12:00:00Z.',
    );
  const backup = join(folder, toBackupName('2026-03-17'));
  await writeFile(backup, '');
  await utimes(backup, new Date('2026-03-17T01:00:00Z'), new Date('2026-03-17T01:00:00Z'));
  expect((await pruneOn('2026-03-19', folder)).reports).toBeGreaterThan(0);
  await writeFile(join(folder, toBackupName('2026-04-19')), '');
  await expect(pruneOn('2026-04-19', folder)).rejects.toThrow('Nothing is deleted by age');
  await expect(pruneOn('2026-03-18')).resolves.toMatchObject({ originals: 0 });
});

test('each job has a metric that is 0 from the start', async () => {
  const store = await aStore();
  const config = readConfig({
    PLUMBLINE_DATABASE: ':memory:',
    PLUMBLINE_KEEP_REPORTS_DAYS: '350',
    PLUMBLINE_DNS_CHECKS: 'on',
    PLUMBLINE_DNS_SERVERS: '127.0.0.1:9',
  });
  const log = pino({ level: 'silent' });
  const text = await readState(config, store.db);
  const jobs = startJobs(config, { store, log, parser: createParserProcess() });
  onTestFinished(jobs.stop);
  const known = [...text.matchAll(/^plumbline_job_failing\{job="(.+)"\} 0$/gm)].map(
    ([, job]) => job,
  );
  // The inbox has metrics of its own.
  expect(known).toEqual(expect.arrayContaining(jobs.names.filter((name) => name !== 'inbox')));
  expect(known).toEqual(expect.arrayContaining(['mail', 'backup']));
});
