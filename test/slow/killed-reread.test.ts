import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { Db } from '../../src/store/engine/database.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { countUndetailed } from '../../src/store/sources/days/undetailed.ts';
import { aBareAccount, aDomain } from '../support/builders.ts';
import { aCommand, finish } from '../support/command.ts';
import { PLAIN } from '../support/intake.ts';
import { forgetDetails, ingestOne, readDetails } from '../support/old-details.ts';
import { listMiscounts } from '../support/recount.ts';

const OLD = 120;
const NEW = 40;
const KILLS = 3;

/** One report of its own, in one of three days. Each has addresses and patterns of the others. */
function toFile(i: number) {
  const begin = 1_773_446_400 + (i % 3) * 86_400;
  const bytes = PLAIN.replace(/<report_id>[^<]*/, `<report_id>r${i}`)
    .replace(/<begin>\d+/, `<begin>${begin}`)
    .replace(/<end>\d+/, `<end>${begin + 86_399}`)
    .replace(/<org_name>[^<]*/, `<org_name>Provider ${i % 5}`);
  return { bytes, receivedAt: '2026-03-20T00:00:00Z' };
}

async function takeIn(db: Db, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++) await ingestOne(db, `${i}.xml`, toFile(i));
}

/** What is stored, without the id of the domain, which every database has its own of. */
const readRows = async (db: Db) =>
  (await readDetails(db)).map((rows) => rows.map(({ domain_id: _, ...row }) => row));

test('reread --sources that is killed, run again, and beside an intake stores what intake would have', async () => {
  const { env, start } = await aCommand();
  const { db, close } = await openStore(env.PLUMBLINE_DATABASE);
  await aDomain(db, await aBareAccount(db), { name: 'example.com' });
  await takeIn(db, 0, OLD);
  await db.write(forgetDetails);
  const reread = () => start('document', 'reread', '--sources');

  for (let done = 1; done <= KILLS; done++) {
    const child = reread();
    const ended = once(child, 'close');
    const atMost = OLD - done * 10;
    await expect
      .poll(() => countUndetailed(db), { timeout: 30_000, interval: 1 })
      .toBeLessThan(atMost);
    child.kill('SIGKILL');
    await ended;
    expect(await countUndetailed(db), 'killed in the middle').toBeGreaterThan(0);
    expect(await listMiscounts(db)).toEqual({});
  }
  const [last] = await Promise.all([finish(reread()), takeIn(db, OLD, OLD + NEW)]);
  expect([last.status, await countUndetailed(db)]).toEqual([0, 0]);

  const whole = await openStore(':memory:');
  await aDomain(whole.db, await aBareAccount(whole.db), { name: 'example.com' });
  await takeIn(whole.db, 0, OLD + NEW);
  expect(await readRows(db)).toEqual(await readRows(whole.db));
  expect(await listMiscounts(db)).toEqual({});
  await whole.close();
  await close();
});
