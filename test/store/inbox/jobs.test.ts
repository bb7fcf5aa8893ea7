import { expect, test } from 'vitest';
import {
  findWriteFault,
  listDoors,
  listFailingJobs,
  noteDoor,
} from '../../../src/store/inbox/doors.ts';
import { aStore } from '../../support/store.ts';

test('a job that fails is listed until it works, and is no door', async () => {
  const { db } = await aStore();
  await noteDoor(db, 'job:alerts');
  await noteDoor(db, 'job:backup', 'there is no such folder');
  await noteDoor(db, 'smtp');
  expect([...(await listFailingJobs(db))]).toEqual([['backup', 'there is no such folder']]);
  expect((await listDoors(db)).map(({ door }) => door)).toEqual(['smtp']);
  await noteDoor(db, 'job:backup');
  expect([...(await listFailingJobs(db))]).toEqual([]);
});

test('a job that has said nothing for hours is not configured any more', async () => {
  const { db } = await aStore();
  await noteDoor(db, 'job:backup', 'there is no such folder');
  const old = { last_error_at: '2026-03-15T04:12:09Z' };
  await db.write((tx) => tx.updateTable('door_state').set(old).execute());
  expect([...(await listFailingJobs(db))]).toEqual([]);
});

test('what works writes nothing, and asking whether something can be written changes nothing', async () => {
  const { db } = await aStore();
  await noteDoor(db, 'job:alerts');
  expect(await findWriteFault(db, true)).toBeUndefined();
  expect(await db.selectFrom('door_state').select('door').execute()).toEqual([]);
});
