import { once } from 'node:events';
import { mkdirSync, openSync, statSync, utimesSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { checkSecrets } from '../../src/commands/doctor/database-checks.ts';
import { checkAddress } from '../../src/commands/doctor/outside-checks.ts';
import type { Config } from '../../src/config/config.ts';
import { createSealing } from '../../src/domain/access/sealing.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { noteDoor } from '../../src/store/inbox/doors.ts';
import { insertPerson } from '../../src/store/people/new-people.ts';
import { startSecondFactor } from '../../src/store/people/second-factors.ts';
import { aBareAccount, NOW } from '../support/builders.ts';
import { aCertificate } from '../support/certificate.ts';
import { aFolder } from '../support/command.ts';
import { serveDns } from '../support/dns-server.ts';
import { aProgram } from '../support/program.ts';
import { runServer } from '../support/running-server.ts';
import { aDatabasePath } from '../support/store.ts';

vi.setConfig({ testTimeout: 60_000 });

interface Row {
  readonly check: string;
  readonly level: string;
  readonly found: string;
  readonly advice: string | null;
}

/** The findings of `plumbline doctor`, by the name of their check. */
async function examine(env: Readonly<Record<string, string>>) {
  const { run } = aProgram({ COLUMNS: '400', ...env });
  const { status, stdout } = await run(['doctor', '--json']);
  const rows: Row[] = JSON.parse(stdout);
  const levels = Object.fromEntries(rows.map(({ check, level }) => [check, level]));
  const find = (name: string) => rows.find(({ check }) => check === name)?.found;
  return { status, levels, find, rows };
}

/** A database whose jobs ran so many hours ago. */
async function aDatabase(hoursAgo: number, failing?: string) {
  const database = aDatabasePath();
  const store = await openStore(database);
  const ran_at = `${new Date(Date.now() - hoursAgo * 3_600_000).toISOString().slice(0, 19)}Z`;
  await store.db.write((tx) =>
    tx.insertInto('lease').values({ name: 'alerts:0', ran_at }).execute(),
  );
  await noteDoor(store.db, 'imap', failing);
  await store.close();
  return database;
}

async function aBackupFolder(hoursAgo: number) {
  const folder = await aFolder();
  const file = join(folder, 'plumbline-2026-03-15.db');
  writeFileSync(file, 'a backup');
  const madeAt = Date.now() / 1000 - hoursAgo * 3600;
  utimesSync(file, madeAt, madeAt);
  return folder;
}

async function certificateOf(lastYear: number) {
  const folder = await aFolder();
  const { cert, key } = aCertificate('dmarc.example.com', lastYear);
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key);
  return {
    PLUMBLINE_SMTP_NAME: 'dmarc.example.com',
    PLUMBLINE_SMTP_PORT: '0',
    PLUMBLINE_SMTP_TLS_CERT: join(folder, 'cert.pem'),
    PLUMBLINE_SMTP_TLS_KEY: join(folder, 'key.pem'),
  };
}

test('an installation that is well has no finding but what the machine lacks', async () => {
  const database = await aDatabase(1);
  const { server } = await runServer({ PLUMBLINE_DATABASE: database });
  const { address } = await serveDns({ 'example.com': [['v=spf1 -all']] });
  const { status, levels, rows } = await examine({
    PLUMBLINE_DATABASE: database,
    PLUMBLINE_PORT: new URL(server.url).port,
    PLUMBLINE_DNS_SERVERS: address,
    PLUMBLINE_BACKUP_TO: await aBackupFolder(3),
    ...(await certificateOf(2049)),
  });
  // The docs are built where somebody did so, and the clock is synchronised where a program does.
  const { docs, clock, ...others } = levels;
  expect(others).toEqual({
    ...{ configuration: 'ok', database: 'ok', space: 'ok', doors: 'ok', work: 'ok', backup: 'ok' },
    secrets: 'ok',
    ...{ resolver: 'ok', certificate: 'ok', address: 'ok', proxy: 'ok', 'mail server': 'ok' },
  });
  expect(status).toBe([docs, clock].includes('warning') ? 1 : 0);
  expect(rows.every(({ level, advice }) => (level === 'ok') === (advice === null))).toBe(true);
});

test('each thing that is wrong is named, and the worst gives the exit status', async () => {
  const port = await findFreePort();
  const { status, levels, find } = await examine({
    PLUMBLINE_DATABASE: await aDatabase(5, 'the password is wrong'),
    PLUMBLINE_PORT: String(port),
    PLUMBLINE_BASE_URL: `https://127.0.0.1:${port}`,
    PLUMBLINE_DNS_SERVERS: '127.0.0.1:9',
    PLUMBLINE_BACKUP_TO: await aBackupFolder(72),
    PLUMBLINE_MAIL_SERVER: `smtps://127.0.0.1:${port}`,
    PLUMBLINE_MAIL_FROM: 'dmarc@example.com',
    ...(await certificateOf(2024)),
  });
  expect(status).toBe(2);
  const { docs, clock, ...others } = levels;
  expect(others).toEqual({
    ...{ configuration: 'ok', database: 'ok', space: 'ok', doors: 'error', work: 'error' },
    secrets: 'ok',
    ...{ backup: 'error', resolver: 'error', certificate: 'error', address: 'error' },
    ...{ proxy: 'warning', 'mail server': 'error' },
  });
  expect(find('doors')).toContain('the password is wrong');
  expect(find('certificate')).toContain('expired on 2024-12-31');
});

test('what was found ran into the advice without a stop between them', async () => {
  const PLUMBLINE_DATABASE = await aDatabase(1, 'correct PLUMBLINE_WATCH');
  const { stdout } = await aProgram({ COLUMNS: '400', PLUMBLINE_DATABASE }).run(['doctor']);
  expect(stdout).toContain('imap: correct PLUMBLINE_WATCH. Correct that.');
  expect(stdout).not.toContain('..');
});

test('a proxy that is not the one that is trusted is an error', async () => {
  const database = await aDatabase(1);
  const { server } = await runServer({ PLUMBLINE_DATABASE: database });
  const proxy = createServer(async (req, res) => {
    const headers = { 'X-Forwarded-For': '192.0.2.1' };
    res.end(await (await fetch(`${server.url}${req.url}`, { headers })).text());
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void proxy.close());
  await once(proxy, 'listening');
  const { levels, find } = await examine({
    PLUMBLINE_DATABASE: database,
    PLUMBLINE_BASE_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    PLUMBLINE_TRUSTED_PROXIES: '192.0.2.7',
  });
  expect([levels['address'], levels['proxy']]).toEqual(['ok', 'error']);
  expect(find('proxy')).toContain('not trusted');
});

test('a name that DNS does not have was said to be a matter of the proxy', async () => {
  const cause = { code: 'ENOTFOUND', syscall: 'getaddrinfo' };
  const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND dmarc.example.com'), cause);
  vi.spyOn(globalThis, 'fetch').mockRejectedValue(
    new TypeError('fetch failed', { cause: unknown }),
  );
  onTestFinished(() => void vi.restoreAllMocks());
  const config = { baseUrl: 'https://dmarc.example.com' } as Config;
  expect(await checkAddress(config)).toMatchObject({
    found: expect.stringContaining('ENOTFOUND'),
    advice: expect.stringContaining('DNS'),
  });
});

test('too little free space is an error', async () => {
  const PLUMBLINE_DATABASE = await aDatabase(1);
  const { levels, find } = await examine({ PLUMBLINE_DATABASE, PLUMBLINE_MIN_FREE_MB: '1000000' });
  expect(levels['space']).toBe('error');
  expect(find('space')).toContain('PLUMBLINE_MIN_FREE_MB');
});

test('a damaged database is an error', async () => {
  const database = await aDatabase(1);
  const file = openSync(database, 'r+');
  const { size } = statSync(database);
  for (let at = 8192 * 3; at < size; at += 8192) writeSync(file, Buffer.alloc(64, 0x5a), 0, 64, at);
  const { status, levels } = await examine({ PLUMBLINE_DATABASE: database });
  expect(status).toBe(2);
  expect(levels['database']).toBe('error');
});

test('a database that is to be migrated is not', async () => {
  const database = await aDatabase(1);
  const forget = async () => {
    const { default: Database } = await import('better-sqlite3');
    const connection = new Database(database);
    const { changes } = connection.prepare('delete from kysely_migration').run();
    connection.close();
    return changes;
  };
  const changes = await forget();
  expect(changes).toBeGreaterThan(0);
  const { levels, find } = await examine({ PLUMBLINE_DATABASE: database });
  expect(find('database')).toContain('older version');
  expect([levels['database'], levels['space']]).toEqual(['error', undefined]);
  expect(await forget()).toBe(0);
});

test('a missing database and a wrong configuration are findings, and nothing is made', async () => {
  const folder = await aFolder();
  mkdirSync(join(folder, 'empty'));
  const PLUMBLINE_DATABASE = join(folder, 'empty/plumbline.db');
  const missing = await examine({ PLUMBLINE_DATABASE });
  expect(missing.find('database')).toContain('There is no database');
  expect(statSync(PLUMBLINE_DATABASE, { throwIfNoEntry: false })).toBeUndefined();
  const wrong = await examine({ PLUMBLINE_DATABASE, PLUMBLINE_PORT: 'eighty' });
  expect([wrong.status, wrong.levels]).toEqual([2, { configuration: 'error' }]);
  expect(wrong.find('configuration')).toContain('PLUMBLINE_PORT');
});

test('a job that fails is an error, by its name and why', async () => {
  const database = await aDatabase(1);
  const store = await openStore(database);
  await noteDoor(store.db, 'job:backup', '/nowhere: there is no such file or folder');
  await store.close();
  const { levels, find } = await examine({ PLUMBLINE_DATABASE: database });
  expect(levels['work']).toBe('error');
  expect(find('work')).toBe('backup fails: /nowhere: there is no such file or folder');
});

test('a key that does not fit the secrets of the database was found by nobody', async () => {
  const database = await aDatabase(1);
  const store = await openStore(database);
  const accountId = await aBareAccount(store.db);
  const person = { accountId, email: 'ada@example.com', passwordHash: null, now: NOW };
  const { id: personId } = await insertPerson(store.db, person);
  await startSecondFactor(
    store.db,
    personId,
    createSealing(Buffer.alloc(32, 1), 'second factor').seal('a', personId),
  );
  await store.close();
  const missing = await examine({ PLUMBLINE_DATABASE: database });
  expect(missing.find('secrets')).toContain('plumbline.db.key is missing');
  writeFileSync(`${database}.key`, Buffer.alloc(32, 2).toString('base64'), { mode: 0o600 });
  const other = await examine({ PLUMBLINE_DATABASE: database });
  expect([missing.levels['secrets'], other.levels['secrets']]).toEqual(['error', 'error']);
  expect(other.find('secrets')).toContain('does not open the secrets');
  writeFileSync(`${database}.key`, Buffer.alloc(32, 1).toString('base64'));
  expect((await examine({ PLUMBLINE_DATABASE: database })).levels['secrets']).toBe('ok');
});

test('where there is no key, as on PostgreSQL, it was said to read what is encrypted', async () => {
  const store = await openStore(await aDatabase(1));
  onTestFinished(store.close);
  const found = await checkSecrets({ secretsKeyFile: undefined } as Config, store);
  expect(found).toMatchObject({ level: 'warning', found: 'There is no key.' });
});
