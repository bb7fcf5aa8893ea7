import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { promisify } from 'node:util';
import { type KyselyPlugin, sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { toShownUrl } from '../../src/domain/database-address.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { migratePostgres } from '../../src/store/engine/postgres/migrate.ts';
import { connectPool } from '../../src/store/engine/postgres/pool.ts';
import type { StoreOptions } from '../../src/store/engine/store.ts';
import { MIGRATIONS } from '../../src/store/migrations/all.ts';
import { anAccount } from '../support/builders.ts';
import { PATIENCE_MS } from '../support/every-suite.ts';
import { copyDatabase, runOn, toName } from '../support/postgres-stores.ts';
import { moduleOf, runTogether } from '../support/processes.ts';
import { aDatabase } from '../support/store.ts';

const toServer = (url: string) => url.replace(/[^/]+$/, 'template1');

/** A database without tables. */
const anEmptyDatabase = () => copyDatabase('template0');

/** The error of opening, as a person reads it. */
async function failureOf(url: string, options?: StoreOptions) {
  const error = await openStore(url, options).then(
    async (store) => {
      await store.close();
      throw new Error(`${url} was opened`);
    },
    (reason: Error & { code: string }) => reason,
  );
  return { code: error.code, message: error.message };
}

/** The URL for a user who needs a password. */
async function aGuest(url: string, password: string): Promise<{ name: string; url: string }> {
  const name = `guest_${toName(url)}`;
  await runOn(url, `create role ${name} login superuser password '${password}'`);
  onTestFinished(() => runOn(toServer(url), `drop role ${name}`).then(() => {}));
  return { name, url: url.replace('plumbline@', `${name}@`) };
}

const withPassword = (url: string, password: string) => url.replace('@', `:${password}@`);

describe('a database that cannot be used: the error names it, and what to do', () => {
  test('one that does not exist', async () => {
    const url = (await aDatabase()).replace(/[^/]+$/, 'nowhere');
    const { code, message } = await failureOf(url);
    expect(code).toBe('unavailable');
    expect(message).toContain(`${url} does not exist: create it, with the encoding UTF8`);
  });

  test('one whose server is not there', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    const { code, message } = await failureOf(`postgres://a@127.0.0.1:${port}/x`);
    expect(code).toBe('unavailable');
    expect(message).toContain(`postgres://a@127.0.0.1:${port}/x cannot be reached:`);
    expect(message).toContain('ECONNREFUSED');
  });

  test('one whose server ends the connection in the moment in which it is made', async () => {
    const part = (type: string, body: string) => {
      const length = Buffer.alloc(4);
      length.writeInt32BE(body.length + 4);
      return Buffer.concat([Buffer.from(type), length, Buffer.from(body, 'latin1')]);
    };
    const ready = [part('R', '\0\0\0\0'), part('Z', 'I')];
    const ended = part('E', 'SFATAL\0C57P01\0Mterminating connection\0\0');
    const server = createServer((socket) =>
      socket.on('error', () => {}).once('data', () => socket.end(Buffer.concat([...ready, ended]))),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { code } = await failureOf(`postgres://a@127.0.0.1:${port}/x`);
    expect(code).toBe('unavailable');
  });

  test('a wrong password, and none: neither is in the message', async () => {
    const { url } = await aGuest(await aDatabase(), 'right');
    const { code, message } = await failureOf(withPassword(url, 'a-secret'));
    expect([code, message]).toEqual([
      'unavailable',
      `The database ${url} refuses the user or the password (PLUMBLINE_DATABASE).`,
    ]);
    expect(JSON.stringify(await failureOf(url))).not.toContain('secret');
    const asParameter = await failureOf(`${url}?password=a-secret`);
    expect(asParameter.message).toContain('refuses the user or the password');
    expect(asParameter.message).not.toContain('secret');
  });

  test('one with another encoding', async () => {
    const url = (await aDatabase()).replace(/[^/]+$/, `latin_${process.pid}`);
    await runOn(
      toServer(url),
      `create database ${toName(url)} template template0 encoding 'LATIN1' locale_provider libc locale 'C'`,
    );
    const { code, message } = await failureOf(url);
    expect([code, message]).toEqual([
      'conflict',
      `The database ${url} has the encoding LATIN1: create one with UTF8.`,
    ]);
  });

  test('that of another program: nothing is added to it', async () => {
    const url = await anEmptyDatabase();
    await runOn(url, 'create table theirs (id int)');
    const { code, message } = await failureOf(url);
    expect(code).toBe('conflict');
    expect(message).toContain('is that of another program');
    const tables = await runOn(url, "select 1 from pg_tables where schemaname = 'public'");
    expect(tables).toHaveLength(1);
  });

  test('that of a newer version, with the name of its migration', async () => {
    const url = await aDatabase();
    await runOn(url, "insert into kysely_migration values ('9999-later', '2026-01-01')");
    const { code, message } = await failureOf(url);
    expect(code).toBe('conflict');
    expect(message).toMatch(/another version of Plumbline \(migration 9999-later\)/);
  });

  test('an empty one, for a command that does not begin with one', async () => {
    const url = await anEmptyDatabase();
    const { code, message } = await failureOf(url, { mustExist: true });
    expect([code, message]).toEqual(['not_found', expect.stringContaining(`${url} is empty`)]);
  });

  test('one with a user who may not make tables', async () => {
    const url = await anEmptyDatabase();
    const { name } = await aGuest(url, 'right');
    await runOn(url, `alter role ${name} nosuperuser`);
    const { code, message } = await failureOf(url.replace('plumbline@', `${name}:right@`));
    expect(code).toBe('unavailable');
    expect(message).toContain('gives its user too few rights');
    expect(message).not.toContain('right@');
  });
});

describe('migrating', () => {
  test('an empty database by four processes at the same time works for each of them', async () => {
    const url = await anEmptyDatabase();
    const printed = await runTogether(
      4,
      url,
      `import { openStore } from 'src/store/engine/open.ts';
      const store = await openStore(process.argv[1]);
      await store.db.selectFrom('account').selectAll().execute();
      await store.close();
      console.log('opened');`,
    );
    expect(printed).toEqual(['opened', 'opened', 'opened', 'opened']);
    const applied = await runOn(url, 'select name from kysely_migration order by name');
    expect(applied.map(({ name }) => name)).toEqual(Object.keys(MIGRATIONS).toSorted());
  });

  test.each([false, true])(
    'that another process does just after this one has looked is not “another program” (mustExist: %s)',
    async (mustExist) => {
      const url = await anEmptyDatabase();
      const { db, close } = connectPool(url, {
        maxConnections: 1,
        timeoutMs: 15_000,
        connectTimeoutMs: 15_000,
      });
      onTestFinished(close);
      let isFirst = true;
      const plugin: KyselyPlugin = {
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => {
          if (isFirst) {
            isFirst = false;
            await (await openStore(url)).close();
          }
          return result;
        },
      };
      const unused = () => {
        throw new Error('nothing is left to migrate');
      };
      await migratePostgres(url, { db: db.withPlugin(plugin), mustExist, connect: unused });
      expect(isFirst).toBe(false);
    },
  );

  test('that fails in the middle leaves no partial change, and can be run again', async () => {
    const url = await anEmptyDatabase();
    await runOn(url, 'create table kysely_migration (name varchar(255), timestamp varchar(255))');
    await runOn(url, 'create table report (x int)');
    await expect(openStore(url)).rejects.toThrow(/already exists/);
    const tables = "select tablename from pg_tables where schemaname = 'public'";
    const names = (await runOn(url, tables)).map(({ tablename }) => tablename);
    expect(names.filter((name) => !`${name}`.startsWith('kysely'))).toEqual(['report']);
    await runOn(url, 'drop table report');
    const store = await openStore(url);
    expect(await store.db.selectFrom('report').selectAll().execute()).toEqual([]);
    await store.close();
  });
});

describe('a password that is missing', () => {
  test.each([
    ['not set', '', 'asks for a password'],
    ['in a file that is gone', ", { password: () => { throw new Error('no file') } }", 'no file'],
  ])('%s: the process says so, and ends', async (_, options, words) => {
    const { url } = await aGuest(await aDatabase(), 'secret');
    const text = `import { openStore } from 'src/store/engine/open.ts';
      await openStore(process.argv[1]${options}).catch((error) => console.log(error.message));`;
    // Nothing ends the process but that nothing is left to do.
    const { stdout } = await promisify(execFile)(process.execPath, [...moduleOf(text), url], {
      timeout: PATIENCE_MS,
    });
    expect(stdout).toContain(words);
  });
});

describe('the password', () => {
  test('is asked for at each new connection, so that a new one needs no restart', async () => {
    const database = await aDatabase();
    const { name, url } = await aGuest(database, 'first');
    let password = 'first';
    let asked = 0;
    const store = await openStore(url, {
      password: () => {
        asked += 1;
        return password;
      },
    });
    expect(asked).toBeGreaterThan(0);
    await runOn(database, `alter role ${name} password 'second'`);
    password = 'second';
    await cutConnections(database, name);
    await expect
      .poll(() => store.db.selectFrom('account').selectAll().execute().catch(String))
      .toEqual([]);
    await store.close();
  });

  test('of the URL comes before the function', async () => {
    const { url } = await aGuest(await aDatabase(), 'right');
    const store = await openStore(withPassword(url, 'right'), { password: () => 'wrong' });
    expect(await store.db.selectFrom('account').selectAll().execute()).toEqual([]);
    await store.close();
  });
});

async function cutConnections(url: string, user: string): Promise<void> {
  await runOn(
    url,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = '${user}'`,
  );
}

describe('sslmode', () => {
  async function isEncrypted(url: string): Promise<boolean> {
    const store = await openStore(url);
    const { rows } = await store.db.write((tx) =>
      sql<{ ssl: boolean }>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(tx),
    );
    await store.close();
    return rows[0]?.ssl === true;
  }
  const certificate = new URL('./certificate/server.crt', import.meta.url).pathname;
  const root = `sslrootcert=${certificate}`;

  test.each([
    ['', false],
    ['?sslmode=disable', false],
    ['?sslmode=require', true],
    [`?sslmode=verify-ca&${root}`, true],
    [`?sslmode=verify-full&${root}`, true],
  ])('“%s” means what it means to psql: encrypted is %s', async (mode, wanted) => {
    expect(await isEncrypted((await aDatabase()) + mode)).toBe(wanted);
  });

  test.each(['allow', 'prefer', 'no-verify', 'Require', '', 'require&sslmode=prefer'])(
    '“%s” is refused: who writes it gets either TLS or a message',
    async (mode) => {
      const url = 'postgres://plumbline@127.0.0.1:1/plumbline';
      expect(await failureOf(`${url}?sslmode=${mode}`)).toEqual({
        code: 'validation_error',
        message: expect.stringContaining('must be disable, require, verify-ca or verify-full'),
      });
      const replica = `${url}?sslmode=${mode}`;
      expect(await failureOf(url, { replica })).toMatchObject({ code: 'validation_error' });
    },
  );

  test('verify-ca names the authority in a file', async () => {
    const url = 'postgres://plumbline@127.0.0.1:1/plumbline?sslmode=verify-ca';
    const wanted = {
      code: 'validation_error',
      message: expect.stringContaining('needs sslrootcert'),
    };
    expect(await failureOf(url)).toEqual(wanted);
    expect(await failureOf(`${url}&sslrootcert=`)).toEqual(wanted);
  });

  test('verify-full refuses a certificate that nobody has vouched for', async () => {
    const { code, message } = await failureOf(`${await aDatabase()}?sslmode=verify-full`);
    expect([code, message]).toEqual([
      'unavailable',
      expect.stringMatching(/SELF_SIGNED.*sslrootcert|sslrootcert.*SELF_SIGNED/),
    ]);
  });

  test('verify-full refuses the certificate of another host; verify-ca does not look', async () => {
    const url = (await aDatabase()).replace('127.0.0.1', 'localhost');
    const { code, message } = await failureOf(`${url}?sslmode=verify-full&${root}`);
    expect([code, message]).toEqual(['unavailable', expect.stringMatching(/does not match/)]);
    expect(await isEncrypted(`${url}?sslmode=verify-ca&${root}`)).toBe(true);
  });

  test('require is refused by a server without TLS', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.end('N')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { code, message } = await failureOf(`postgres://a@127.0.0.1:${port}/x?sslmode=require`);
    expect(code).toBe('unavailable');
    expect(message).toContain('does not support SSL');
  });
});

describe('connections', () => {
  test('are at most as many as asked for, whatever is going on', async () => {
    const url = await aDatabase();
    const store = await openStore(url, { maxConnections: 6 });
    const count = `select count(*)::int as open from pg_stat_activity
      where datname = '${toName(url)}' and application_name = 'plumbline'`;
    const slow = sql<number>`pg_sleep(0.02)`;
    const reads = Array.from({ length: 40 }, () =>
      store.db
        .selectFrom('account')
        .select((eb) => eb.fn.countAll().as('n'))
        .where(sql<boolean>`(select true from (select ${slow}) as pause)`)
        .execute(),
    );
    const writes = Array.from({ length: 20 }, () =>
      store.db.write((tx) => sql`select ${slow}`.execute(tx)),
    );
    let isOver = false;
    const all = Promise.all([...reads, ...writes]).finally(() => {
      isOver = true;
    });
    let most = 0;
    while (!isOver) {
      const [{ open = 0 } = {}] = await runOn(url, count);
      most = Math.max(most, open as number);
    }
    await all;
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(6);
    await store.close();
    // The server's process of a connection ends after the client has closed it.
    await expect.poll(() => runOn(url, count)).toEqual([{ open: 0 }]);
  });

  test('that were cut between two requests are replaced: the error goes to the log', async () => {
    const url = await aDatabase();
    const warned: Error[] = [];
    const store = await openStore(url, { warn: (error) => warned.push(error) });
    await anAccount(store.db);
    await runOn(
      toServer(url),
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${toName(url)}'`,
    );
    await expect.poll(() => warned.length).toBeGreaterThan(0);
    expect(await store.db.selectFrom('account').select('name').execute()).toHaveLength(1);
    await anAccount(store.db);
    await store.close();
  });
});

describe('a URL with several hosts', () => {
  const withHosts = (url: string, hosts: string) => url.replace(/@[^/]+/, `@${hosts}`);

  test('was refused: each is tried in turn, and shown without its password', async () => {
    const url = await aDatabase();
    const { port } = new URL(url);
    const two = withHosts(url, `127.0.0.1:1,127.0.0.1:${port}`);
    const { database } = readConfig({ PLUMBLINE_DATABASE: two });
    const store = await openStore(database, { patience: { forMs: 30_000 } });
    expect(await store.db.selectFrom('account').selectAll().execute()).toEqual([]);
    await store.close();
    expect(toShownUrl(withPassword(two, 'secret'))).toBe(two);
    const { message } = await failureOf(withHosts(url, '127.0.0.1:1,127.0.0.1:2'));
    expect(message).toContain('127.0.0.1:1,127.0.0.1:2/');
  });

  test.each(['read-write', 'primary', 'any'])('target_session_attrs=%s', async (attrs) => {
    const store = await openStore(`${await aDatabase()}?target_session_attrs=${attrs}`);
    expect(await store.db.selectFrom('account').selectAll().execute()).toEqual([]);
    await store.close();
  });

  test('that wants another server than is there: the error says what is wrong', async () => {
    const url = `${await aDatabase()}?target_session_attrs=standby`;
    expect((await failureOf(url)).code).toBe('unavailable');
    const { code, message } = await failureOf(url.replace('standby', 'prefer-standby'));
    expect([code, message]).toEqual(['validation_error', expect.stringContaining('primary')]);
  });
});
