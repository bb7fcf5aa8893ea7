import { type ChildProcess, fork } from 'node:child_process';
import { expect, onTestFinished, test } from 'vitest';
import type { Evaluated } from '../../src/alerts/evaluate.ts';
import { addDays } from '../../src/domain/instant.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { caseCount } from '../support/counts.ts';
import { aDatabase, IS_POSTGRES } from '../support/store.ts';
import { aWorld, reportOf, type Sent } from './world.ts';

/** The pass rate falls on each ninth day. */
const ROUNDS = caseCount({ few: 40, full: 60, fewOnPostgres: 27 });
/** On PostgreSQL more, as they write at the same time there. */
const PROCESSES = IS_POSTGRES ? 4 : 2;
const GOOD: Sent[] = [['192.0.2.1', 1000, 990]];
const BAD: Sent[] = [['192.0.2.1', 1000, 500]];

function next<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as T));
    child.once('exit', (code) => reject(new Error(`a process ended with ${code}`)));
  });
}

async function start(path: string): Promise<ChildProcess> {
  const child = fork(new URL('./evaluate-process.ts', import.meta.url), [path]);
  child.setMaxListeners(0);
  onTestFinished(() => void child.kill());
  await next(child);
  return child;
}

test(`${PROCESSES} processes that evaluate at the same time never fire or resolve anything twice`, async () => {
  const path = await aDatabase();
  const store = await openStore(path);
  onTestFinished(() => store.close());
  const world = await aWorld(store);
  const children = await Promise.all(Array.from({ length: PROCESSES }, () => start(path)));
  const sum = { fired: 0, resolved: 0 };
  for (let n = 0; n < ROUNDS; n++) {
    const day = addDays('2026-03-01', n);
    const stranger: Sent = [`203.0.113.${n}`, 50, 0];
    const sent = n % 9 === 8 ? [...BAD, stranger] : GOOD;
    const at = `${addDays(day, 1)}T06:00:00Z`;
    await world.receive([reportOf(world.name, day, sent)], at);
    const answers = children.map((child) => next<Evaluated>(child));
    for (const child of children) child.send(at);
    for (const { fired, resolved } of await Promise.all(answers)) {
      sum.fired += fired;
      sum.resolved += resolved;
    }
    const alerts = await world.alerts();
    const open = alerts.filter(({ resolved_at }) => resolved_at === null);
    const subjects = open.map(({ type, subject }) => `${type} ${subject}`);
    expect(new Set(subjects).size, day).toBe(subjects.length);
    expect(alerts, day).toHaveLength(sum.fired);
    expect(alerts.length - open.length, day).toBe(sum.resolved);
  }
  // Each of those days has a new source, too.
  const fallen = Math.floor(ROUNDS / 9);
  expect(sum.fired).toBe(2 * fallen);
  const { alerts_total: total } = await store.db
    .selectFrom('domain')
    .select('alerts_total')
    .where('id', '=', world.id)
    .executeTakeFirstOrThrow();
  expect(total).toBe(2 * fallen);
});
