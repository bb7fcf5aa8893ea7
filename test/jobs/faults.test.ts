import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { Failure } from '../../src/domain/failure.ts';
import { startBackups } from '../../src/jobs/backups.ts';
import { createNoteRun } from '../../src/jobs/faults.ts';
import { startOutbox } from '../../src/jobs/outbox.ts';
import { readState } from '../../src/metrics/state.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { listDoors, listFailingJobs } from '../../src/store/inbox/doors.ts';
import { createLeases } from '../../src/store/work/leases.ts';
import { serveApi } from '../support/api.ts';
import { aFolder } from '../support/command.ts';
import { aDatabasePath, aStore } from '../support/store.ts';

const KEPT = { days: 1, weeks: 0, months: 0 };

function aLog() {
  const lines: Record<string, unknown>[] = [];
  return { lines, log: pino({}, { write: (line) => void lines.push(JSON.parse(line)) }) };
}

const isFailing = async ({ db }: Store, job: string) =>
  (await readState({ database: ':memory:', backups: undefined }, db)).includes(
    `plumbline_job_failing{job="${job}"} 1`,
  );

test('a folder of backups that never worked raised no alarm, and was logged as a defect', async () => {
  const database = aDatabasePath();
  const store = await openStore(database);
  onTestFinished(() => store.close());
  const folder = join(await aFolder(), 'backups');
  const { lines, log } = aLog();
  const noteRun = createNoteRun(store.db, log);
  const start = () => {
    const leases = createLeases({ db: store.db, holder: 'one' });
    const logError = (error: unknown, job: string) => noteRun(job, error);
    const deps = { leases, logError, onWell: noteRun, pollMs: 5, log };
    const now = () => new Date();
    return startBackups({ database, folder, kept: KEPT, now }, deps);
  };
  expect(await isFailing(store, 'backup')).toBe(false);
  const failing = start();
  await expect.poll(() => isFailing(store, 'backup')).toBe(true);
  await failing.stop();
  const why = `${folder}: there is no such file or folder`;
  expect(lines).toMatchObject([
    {
      job: 'backup',
      setting: 'PLUMBLINE_BACKUP_TO',
      msg: `the job backup fails (PLUMBLINE_BACKUP_TO): ${why}`,
    },
  ]);
  expect(lines[0]).not.toHaveProperty('err');
  expect([...(await listFailingJobs(store.db))]).toEqual([['backup', why]]);
  const { send } = await serveApi({ store });
  const { status, body } = await send('/readyz');
  expect([status, body]).toEqual([200, { status: 'ready', failing_jobs: ['backup'] }]);
  expect(await listDoors(store.db)).toEqual([]);

  mkdirSync(folder);
  await store.db.write((tx) => tx.deleteFrom('lease').execute());
  const working = start();
  await expect.poll(() => isFailing(store, 'backup')).toBe(false);
  await working.stop();
  expect(lines).toHaveLength(1);
});

test('webhooks that no key can sign were silently never sent, and another process hides nothing', async () => {
  const store = await aStore();
  const { lines, log } = aLog();
  const deps = { store, log };
  const fault = new Failure('unavailable', 'PLUMBLINE_SECRETS_KEY_FILE does not open the secrets');
  const start = (open: Parameters<typeof startOutbox>[1]) => {
    const outbox = startOutbox('outbox', open, deps);
    onTestFinished(outbox.stop);
  };
  let steps = 0;
  start(async () => {
    steps += 1;
    return undefined;
  });
  await expect.poll(() => steps).toBe(1);
  start(async () => {
    throw fault;
  });
  await expect.poll(() => isFailing(store, 'outbox')).toBe(true);
  expect(lines).toMatchObject([{ job: 'outbox', setting: 'PLUMBLINE_SECRETS_KEY_FILE' }]);
  expect(lines[0]?.['msg']).toContain(fault.message);
});

test('a defect is logged with its stack once, and what works again in any process is well', async () => {
  const store = await aStore();
  const { lines, log } = aLog();
  const [one, other] = [createNoteRun(store.db, log), createNoteRun(store.db, log)];
  await other('alerts');
  for (let i = 0; i < 3; i += 1) await one('alerts', new Error('a defect'));
  expect(lines).toMatchObject([{ job: 'alerts', err: { stack: expect.any(String) } }]);
  expect(await isFailing(store, 'alerts')).toBe(true);
  await other('alerts');
  expect(await isFailing(store, 'alerts')).toBe(false);
});
