import { readdirSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import type { PendingStep } from '../../src/store/engine/pending-steps.ts';
import type { Store, StoreOptions } from '../../src/store/engine/store.ts';
import { MIGRATIONS, type Steps } from '../../src/store/migrations/all.ts';
import { aReport, receive } from '../support/builders.ts';
import { IS_CITUS } from '../support/citus-databases.ts';
import { laterSteps } from '../support/later-steps.ts';
import { runOn } from '../support/postgres-stores.ts';
import { aDatabase, IS_POSTGRES } from '../support/store.ts';

const REPORTS = 1_000;

/** A database of this version with reports, that nobody has open. */
async function aFilledDatabase(reports = REPORTS): Promise<string> {
  const database = await aDatabase();
  const { db, close } = await openStore(database);
  await receive(
    db,
    Array.from({ length: reports }, (_, i) => aReport({ reportId: `${i}` })),
  );
  await close();
  return database;
}

/** Runs every step, however long it takes, as `plumbline migrate` does. */
const runAll = async (pending: readonly PendingStep[]) => {
  for (const step of pending) await step.run();
};

/** Opens with other steps, does what is asked, and closes. */
async function on<T>(database: string, options: StoreOptions, work: (store: Store) => Promise<T>) {
  const store = await openStore(database, options);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Fails when a database has another schema than its steps say; opens it without migrating it. */
const NOTHING: StoreOptions = { migrate: async () => {} };

const countFilled = (database: string, steps: Steps) =>
  on(database, { ...NOTHING, steps }, async ({ db }) => {
    const { rows } = await sql<{ n: number }>`select count(later) as n from report`.execute(
      db as never,
    );
    return rows[0]?.n;
  });

async function listApplied(database: string, steps: Steps): Promise<string[]> {
  const pending: string[] = [];
  const migrate = async (steps: readonly PendingStep[]) => {
    pending.push(...steps.map(({ migration }) => migration));
  };
  await on(database, { steps, migrate }, async () => {});
  return Object.keys(steps).filter((name) => !pending.includes(name));
}

/** Names of files that begin with the database's. */
const listBeside = (database: string) =>
  readdirSync(dirname(database)).filter((name) => name.startsWith(basename(database)));

/** Fails at the second batch. */
const interrupted = (options = {}) =>
  laterSteps({
    ...options,
    beforeBatch: async (filled) => {
      if (filled > 0) throw new Error('interrupted');
    },
  });

test('later steps run when a database is opened, once, each recorded by its name', async () => {
  const database = await aFilledDatabase();
  const steps = laterSteps();
  await on(database, { steps }, async () => {});
  expect(await listApplied(database, steps)).toEqual(Object.keys(steps));
  expect(await countFilled(database, steps)).toBe(REPORTS);
  await on(database, { steps: interrupted() }, async () => {});
});

describe.skipIf(IS_POSTGRES)('the copy that is kept of a SQLite database', () => {
  const COPY = '.before-0006-validate';
  const countReports = async (database: string) => {
    const { db, close } = await openStore(database);
    const reports = await db.selectFrom('report').select('id').execute();
    await close();
    return reports.length;
  };

  test('is the database before its first step, also when a step fails and is run again', async () => {
    const database = await aFilledDatabase();
    const fails = { steps: interrupted({ perSecond: 1 }), migrate: runAll };
    await expect(openStore(database, fails)).rejects.toThrow('interrupted');
    await on(database, { steps: laterSteps() }, async () => {});
    expect(await listApplied(`${database}${COPY}`, laterSteps())).toEqual(Object.keys(MIGRATIONS));
    expect(await countReports(`${database}${COPY}`)).toBe(REPORTS);
    expect(statSync(`${database}${COPY}`).mode & 0o777).toBe(0o600);
    expect(listBeside(database).filter((name) => name.includes('.before-'))).toHaveLength(1);
  });

  test('is one, when several processes migrate at the same time', async () => {
    const database = await aFilledDatabase();
    const opened = await Promise.all(
      [1, 2, 3].map(() => openStore(database, { steps: laterSteps() })),
    );
    for (const { close } of opened) await close();
    expect(listBeside(database).filter((name) => name.includes('.before-'))).toHaveLength(1);
    expect(await countReports(`${database}${COPY}`)).toBe(REPORTS);
  });

  test('is not made of a new database, nor when the steps are only listed', async () => {
    const database = await aDatabase();
    await on(database, { steps: laterSteps() }, async () => {});
    const listed = await aFilledDatabase(1);
    await listApplied(listed, laterSteps());
    for (const path of [database, listed])
      expect(listBeside(path).filter((name) => name.includes('.before-'))).toEqual([]);
  });
});

test('a new database gets the steps of this version and the later ones', async () => {
  const database = await aDatabase();
  const steps = laterSteps({ perSecond: 0.001 });
  await on(database, { steps }, async () => {});
  expect(await listApplied(database, steps)).toEqual(Object.keys(steps));
});

test('a step that fails leaves those before it done and itself undone, and can be run again', async () => {
  const database = await aFilledDatabase(1);
  const withTable = (end: () => void): Steps => ({
    ...laterSteps(),
    '0004-index': async () => ({
      does: '',
      locks: '',
      up: async (db) => {
        await sql`create table half (id integer)`.execute(db);
        end();
      },
    }),
  });
  const fail = () => {
    throw new Error('fails');
  };
  await expect(openStore(database, { steps: withTable(fail) })).rejects.toThrow('fails');
  expect(await listApplied(database, laterSteps())).toEqual([
    ...Object.keys(MIGRATIONS),
    ...['0002-add', '0003-fill'],
  ]);
  await on(database, { steps: withTable(() => {}) }, async () => {});
});

describe('a step by batches that is interrupted', () => {
  test('goes on where it was', async () => {
    const database = await aFilledDatabase();
    await expect(openStore(database, { steps: interrupted() })).rejects.toThrow('interrupted');
    // On SQLite a short step is one transaction.
    expect(await countFilled(database, laterSteps())).toBe(IS_POSTGRES ? 400 : 0);
    await on(database, { steps: laterSteps() }, async () => {});
    expect(await countFilled(database, laterSteps())).toBe(REPORTS);
  });

  test('goes on where it was when it takes long', async () => {
    const database = await aFilledDatabase();
    const long = { perSecond: 1 };
    const options = { steps: interrupted(long), migrate: runAll };
    await expect(openStore(database, options)).rejects.toThrow('interrupted');
    expect(await countFilled(database, laterSteps(long))).toBe(400);
    await on(database, { steps: laterSteps(long), migrate: runAll }, async ({ db }) => {
      // Others can use the database again.
      await on(database, { steps: laterSteps(long) }, async () => {});
      await db.write((tx) => tx.updateTable('domain').set({ status: 'paused' }).execute());
    });
    expect(await countFilled(database, laterSteps(long))).toBe(REPORTS);
  });
});

describe('steps that take long', () => {
  test('are refused with words when a database is opened, and nothing is done', async () => {
    const database = await aFilledDatabase();
    const steps = laterSteps({ perSecond: 3 });
    await expect(openStore(database, { steps })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(
        /has to be migrated first, .* about 6 min: run “plumbline migr/,
      ),
    });
    expect(await listApplied(database, steps)).toEqual(Object.keys(MIGRATIONS));
  });

  test('say what they do, what they lock and how long they take', async () => {
    const database = await aFilledDatabase();
    const told: object[] = [];
    const migrate = async (pending: readonly PendingStep[]) => {
      told.push(...pending.map(({ run: _, ...step }) => step));
    };
    await on(database, { steps: laterSteps({ perSecond: 7 }), migrate }, async () => {});
    expect(told.slice(0, 2)).toEqual([
      { migration: '0002-add', does: 'does 0002-add', locks: 'report', seconds: 0 },
      { migration: '0003-fill', does: 'does 0003-fill', locks: 'report', seconds: 143 },
    ]);
  });

  test.skipIf(IS_POSTGRES)('have a SQLite database alone', async () => {
    const database = await aFilledDatabase(11);
    const options = { steps: laterSteps({ perSecond: 1 }), migrate: runAll };
    const other = await openStore(database);
    await expect(openStore(database, options)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('stop every process of Plumbline'),
    });
    expect(await other.db.selectFrom('account').selectAll().execute()).toEqual([]);
    await other.close();
    await on(database, options, async () => {});
  });
});

test('processes that begin at the same time wait for one another', async () => {
  const database = await aFilledDatabase();
  const steps = laterSteps({ beforeBatch: async () => void (await sleepALittle()) });
  const opened = await Promise.all([1, 2, 3].map(() => openStore(database, { steps })));
  for (const { close } of opened) await close();
  expect(await listApplied(database, steps)).toEqual(Object.keys(steps));
  if (!IS_POSTGRES) return;
  // One that waited for another in the middle of a statement would be in the way of the index.
  const find = 'select deadlocks::int from pg_stat_database where datname = current_database()';
  expect(await runOn(database, find)).toEqual([{ deadlocks: 0 }]);
});

const sleepALittle = () => new Promise((resolve) => setTimeout(resolve, 20));

test('a database of a newer version is refused, however it is to be migrated', async () => {
  const database = await aFilledDatabase(1);
  await on(database, { steps: laterSteps() }, async () => {});
  await expect(openStore(database, NOTHING)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining(
      'written by another version of Plumbline (migration 0002-add)',
    ),
  });
});

describe.runIf(IS_POSTGRES)('on PostgreSQL', () => {
  test('a step waits for the lock of a table only shortly, and tries again', async () => {
    const database = await aFilledDatabase(1);
    const store = await openStore(database);
    onTestFinished(() => store.close());
    const isHeld = Promise.withResolvers<void>();
    const mayEnd = Promise.withResolvers<void>();
    const holding = store.db.write(async (tx) => {
      await tx.selectFrom('report').select('id').execute();
      isHeld.resolve();
      await mayEnd.promise;
    });
    await isHeld.promise;
    const migrating = openStore(database, { steps: laterSteps() });
    // A step that waited on would let none of these reads end before the table is free.
    for (let i = 0; i < 10; i++) {
      await sleepALittle();
      await store.db.selectFrom('report').select('id').execute();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    mayEnd.resolve();
    await holding;
    await (await migrating).close();
  });

  test('an index whose building was interrupted is built again', async ({ skip }) => {
    skip(IS_CITUS);
    const database = await aFilledDatabase(2);
    const create = 'create unique index concurrently report_later on report (domain_seq)';
    await expect(runOn(database, create)).rejects.toThrow(/could not create unique index/);
    const find = `select indisvalid, indisunique from pg_index where indexrelid = 'report_later'::regclass`;
    expect(await runOn(database, find)).toEqual([{ indisvalid: false, indisunique: true }]);
    const steps = laterSteps();
    await on(database, { steps }, async () => {});
    expect(await runOn(database, find)).toEqual([{ indisvalid: true, indisunique: false }]);
    // A step that was done and not recorded.
    await runOn(database, "delete from kysely_migration where name >= '0004'");
    await runOn(database, 'alter table report drop constraint report_later_least');
    await on(database, { steps }, async () => {});
    expect(await listApplied(database, steps)).toEqual(Object.keys(steps));
  });
});
