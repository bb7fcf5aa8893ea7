import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hashPassword } from '../../src/domain/access/password.ts';
import { insertAccount, listAccounts } from '../../src/store/accounts/accounts.ts';
import { isReadable, openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { insertPerson } from '../../src/store/people/new-people.ts';
import { insertOneTimeLink } from '../../src/store/people/passwords.ts';
import { listPeople } from '../../src/store/people/people.ts';
import {
  deleteOtherSessions,
  deleteSessionOf,
  insertSession,
  updateSession,
} from '../../src/store/people/sessions.ts';
import { aBareAccount, aReport, NOW, receive, toCode } from '../support/builders.ts';
import { runTogether } from '../support/processes.ts';
import { aDatabasePath } from '../support/store.ts';

/** A store on a file, and its path. */
async function aFileStore(): Promise<{ store: Store; path: string }> {
  const path = aDatabasePath();
  const store = await openStore(path);
  onTestFinished(() => store.close());
  return { store, path };
}

/** Holds the write lock as another process would, until it is released. */
function holdLock(path: string): { release: () => void } {
  const other = new Database(path);
  other.exec('begin immediate');
  let isHeld = true;
  const release = () => {
    if (!isHeld) return;
    isHeld = false;
    other.exec('commit');
    other.close();
  };
  onTestFinished(release);
  return { release };
}

const turns = async (count: number) => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setTimeout(resolve, 5));
};

test('what came in meanwhile has its turn between one transaction and the next', async () => {
  const { store } = await aFileStore();
  const happened: string[] = [];
  for (const name of ['A', 'B', 'C']) {
    setImmediate(() => happened.push(`request before ${name}`));
    await store.db.write(async () => void happened.push(`transaction ${name}`));
  }
  expect(happened).toEqual([
    ...['request before A', 'transaction A'],
    ...['request before B', 'transaction B'],
    ...['request before C', 'transaction C'],
  ]);
});

describe('a write while another process writes', () => {
  test('waits for the lock, and does not block the process meanwhile', async () => {
    const { store, path } = await aFileStore();
    const lock = holdLock(path);
    let isWritten = false;
    const write = insertAccount(store.db, { name: 'A', plan: 'pro', now: NOW }).then(() => {
      isWritten = true;
    });
    await turns(20);
    expect(isWritten).toBe(false);
    lock.release();
    await write;
    expect(isWritten).toBe(true);
  });

  test('of a single statement waits too: people, links, sessions and notices', async () => {
    const { store, path } = await aFileStore();
    const { db } = store;
    const accountId = await aBareAccount(db);
    const passwordHash = await hashPassword('plumb lines are straight');
    const person = { accountId, email: 'a@example.com', passwordHash, now: NOW };
    const { id: personId } = await insertPerson(db, person);
    const session = { personId, address: '192.0.2.1', userAgent: 'test', now: NOW };
    const proof = { password_hash: passwordHash };
    const token = await insertSession(db, { ...session, proof });
    const lock = holdLock(path);
    const writes = [
      insertPerson(db, { ...person, email: 'b@example.com' }),
      insertOneTimeLink(db, personId, NOW),
      updateSession(db, personId, { last_seen_at: NOW }),
      updateSession(db, personId, { notice: 'Done.' }),
      deleteOtherSessions(db, { id: personId, personId }),
      deleteSessionOf(db, token),
    ];
    await turns(5);
    lock.release();
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.map(({ status }) => status)).toEqual(writes.map(() => 'fulfilled'));
  });

  test('that waits delays no read: readiness, lists, sign-in', async () => {
    const { store, path } = await aFileStore();
    const accountId = await aBareAccount(store.db);
    const lock = holdLock(path);
    const write = insertAccount(store.db, { name: 'B', plan: 'pro', now: NOW });
    expect(await isReadable(store)).toBe(true);
    expect(await listAccounts(store.db)).toHaveLength(1);
    expect(await listPeople(store.db, accountId)).toEqual([]);
    lock.release();
    await write;
  });

  test('of a long ingest gets the lock between two of its transactions', async () => {
    const { store, path } = await aFileStore();
    const storing = runTogether(
      1,
      path,
      `import { receiveInputs } from 'scripts/receive.ts';
      import { openStore } from 'src/store/engine/open.ts';
      const report = ${toCode(aReport())};
      const { db } = await openStore(process.argv[1]);
      const documents = Array.from({ length: 4_000 }, (_, i) => ({
        member: [],
        content: { ...report, metadata: { ...report.metadata, reportId: String(i) } },
      }));
      await receiveInputs(db, [{ name: 'x', bytes: Buffer.from('x'), documents }], '${NOW}');`,
    );
    const seen = new Set<number>();
    let isDone = false;
    void storing.finally(() => {
      isDone = true;
    });
    for (let i = 0; !isDone; i++) {
      await insertAccount(store.db, { name: `A${i}`, plan: 'pro', now: NOW });
      const { length } = await store.db.selectFrom('report').select('seq').execute();
      seen.add(length);
    }
    await storing;
    // It was written while some of the reports were stored and others were not.
    expect([...seen].filter((count) => count > 0 && count < 4_000).length).toBeGreaterThan(3);
  });
});

describe('opening', () => {
  test('migrating a current database takes no write lock: a command that only reads never waits', async () => {
    const { path } = await aFileStore();
    const lock = holdLock(path);
    const second = await openStore(path);
    expect(await listAccounts(second.db)).toEqual([]);
    await second.close();
    lock.release();
  });
});

describe('db', () => {
  test('is not possible outside write: the connection is read-only', async () => {
    const { store } = await aFileStore();
    const builder = store.db.selectFrom('account').select('id');
    expect('insertInto' in store.db).toBe(false);
    expect(await builder.execute()).toEqual([]);
  });

  test('rolls a change back when it throws', async () => {
    const { store } = await aFileStore();
    const change = store.db.write(async (tx) => {
      await tx.insertInto('list_day').values({ list_id: 'x', day: 'x', items: 1 }).execute();
      throw new Error('broken');
    });
    await expect(change).rejects.toThrow('broken');
    expect(await store.db.selectFrom('list_day').selectAll().execute()).toEqual([]);
  });
});

describe('close', () => {
  test('waits for the change in progress, and accepts no new one', async () => {
    const path = aDatabasePath();
    const store = await openStore(path);
    const release = Promise.withResolvers<void>();
    const writing = store.db.write(async (tx) => {
      await release.promise;
      await tx.insertInto('list_day').values({ list_id: 'x', day: 'x', items: 1 }).execute();
    });
    const closing = store.close();
    await expect(store.db.write(async () => undefined)).rejects.toThrow('closed');
    release.resolve();
    await writing;
    await closing;
    const again = await openStore(path);
    expect(await again.db.selectFrom('list_day').select('items').execute()).toHaveLength(1);
    await again.close();
  });

  test('of the last connection leaves one file', async () => {
    const path = aDatabasePath();
    const store = await openStore(path);
    await receive(store.db, [aReport()]);
    await store.close();
    expect([existsSync(path), existsSync(`${path}-wal`)]).toEqual([true, false]);
  });
});
