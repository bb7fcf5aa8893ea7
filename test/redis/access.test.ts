import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import type { RedisConfig } from '../../src/config/redis.ts';
import { aCommand, aFolder } from '../support/command.ts';
import { BACK, instances, LOST, linesOf, untilLimits, untilLost } from './instances.ts';
import { aRedis } from './redis-server.ts';

const PASSWORD = 'pa ss:w/ö@rd';
/** All that a user of its own needs of what docs/operate/scale.md gives it. */
const RIGHTS = '~plumbline:* +eval +pttl +set +incr +get +decr'.split(' ');

function toRedis(env: Record<string, string>): RedisConfig {
  return readConfig(env).redis as RedisConfig;
}

async function aRedisWithUser(...rights: string[]) {
  const redis = await aRedis();
  await redis.send('ACL', 'SETUSER', 'plumbline', 'on', `>${PASSWORD}`, ...rights);
  const url = (password: string) =>
    `redis://plumbline:${encodeURIComponent(password)}@127.0.0.1:${redis.port}`;
  return { ...redis, url };
}

describe('a user of the access control list', () => {
  test('needs only the rights that docs/operate/scale.md names', async () => {
    const redis = await aRedisWithUser(...RIGHTS);
    const [api] = await instances(1, toRedis({ PLUMBLINE_REDIS: redis.url(PASSWORD) }));
    await untilLimits(api, 'shared');
    expect(linesOf(api)).toEqual([]);
  });

  test.each(RIGHTS)('that has no right to %s counts nothing in Redis', async (missing) => {
    const redis = await aRedisWithUser(...RIGHTS.filter((right) => right !== missing));
    const [api] = await instances(1, toRedis({ PLUMBLINE_REDIS: redis.url(PASSWORD) }));
    await untilLost(api);
    expect(api.logged[0]).toMatchObject({ reason: expect.stringMatching(/permission|can't run/) });
  });

  test('gets the password from a variable', async () => {
    const redis = await aRedisWithUser(...RIGHTS);
    const env = {
      PLUMBLINE_REDIS: `redis://plumbline@127.0.0.1:${redis.port}/0`,
      PLUMBLINE_REDIS_PASSWORD: PASSWORD,
    };
    const [api] = await instances(1, toRedis(env));
    await untilLimits(api, 'shared');
  });

  test('gets the password from a file, also one that changes while the server runs', async () => {
    const redis = await aRedisWithUser(...RIGHTS);
    const file = join(await aFolder(), 'password');
    writeFileSync(file, 'the old one\n');
    const env = {
      PLUMBLINE_REDIS: `redis://plumbline@127.0.0.1:${redis.port}`,
      PLUMBLINE_REDIS_PASSWORD_FILE: file,
    };
    const [api] = await instances(1, toRedis(env));
    await untilLost(api);
    writeFileSync(file, `${PASSWORD}\n`);
    await untilLimits(api, 'shared');
    expect(linesOf(api)).toEqual([LOST, BACK]);
  });
});

describe('a password', () => {
  test('that is wrong is said once; no restart is needed when Redis gets the right one', async () => {
    const redis = await aRedisWithUser(...RIGHTS);
    const [api] = await instances(1, toRedis({ PLUMBLINE_REDIS: redis.url('another one') }));
    await untilLost(api);
    expect(api.logged[0]).toMatchObject({ reason: expect.stringContaining('WRONGPASS') });
    await redis.send('ACL', 'SETUSER', 'plumbline', 'resetpass', '>another one');
    await untilLimits(api, 'shared');
    expect(linesOf(api)).toEqual([LOST, BACK]);
  });

  test('is never in the log, also when Redis repeats the command that contains it', async () => {
    const redis = await aRedis((port) => ['--port', `${port}`, '--rename-command', 'AUTH', '']);
    const [api] = await instances(1, { ...redis.config, password: PASSWORD });
    await untilLost(api);
    const text = JSON.stringify(api.logged);
    expect(text).toContain('unknown command');
    expect(text).not.toContain(PASSWORD);
  });
});

test('a database other than 0 is used when the URL names it', async () => {
  const redis = await aRedis();
  const [api] = await instances(
    1,
    toRedis({ PLUMBLINE_REDIS: `redis://127.0.0.1:${redis.port}/3` }),
  );
  await untilLimits(api, 'shared');
  expect(await redis.send('DBSIZE')).toBe(0);
});

describe('TLS', () => {
  test('is used with rediss://, and the certificate is checked against PLUMBLINE_REDIS_CA', async () => {
    const folder = await aFolder();
    const redis = await aRedisWithTls(folder);
    const url = `rediss://127.0.0.1:${redis.port}`;
    const ca = join(folder, 'ca.crt');
    const [api] = await instances(1, toRedis({ PLUMBLINE_REDIS: url, PLUMBLINE_REDIS_CA: ca }));
    await untilLimits(api, 'shared');
    expect(linesOf(api)).toEqual([]);
  });

  test('a certificate that nobody vouches for is refused', async () => {
    const redis = await aRedisWithTls(await aFolder());
    const [api] = await instances(
      1,
      toRedis({ PLUMBLINE_REDIS: `rediss://127.0.0.1:${redis.port}` }),
    );
    await untilLost(api);
    expect(linesOf(api)).toEqual([LOST]);
    expect(api.logged[0]).toMatchObject({ reason: expect.stringMatching(/certificate/) });
  });

  test('a file of certificates that is missing is a mistake in the configuration', async () => {
    const redis = await aRedis();
    const config = { ...redis.config, isTls: true, caFile: '/nowhere/ca.crt' };
    await expect(instances(1, config)).rejects.toThrow(
      'PLUMBLINE_REDIS_CA: /nowhere/ca.crt cannot be read: there is no such file or folder.',
    );
  });
});

/** A server whose certificate, for 127.0.0.1, an authority made for this test has signed. */
async function aRedisWithTls(folder: string) {
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const made = (name: string) => ['-keyout', `${name}.key`, '-out', `${name}.crt`];
  const request = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
  ];
  openssl(...request, ...made('ca'), '-days', '2', '-subj', '/CN=Test authority');
  const signed = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const leaf = ['-addext', 'basicConstraints=critical,CA:FALSE'];
  openssl(...request, ...made('redis'), '-days', '2', '-subj', '/CN=redis', ...signed, ...leaf);
  const files = ['--tls-cert-file', 'redis.crt', '--tls-key-file', 'redis.key'];
  return await aRedis((port) => [
    ...['--port', '0', '--tls-port', `${port}`, '--tls-auth-clients', 'no'],
    ...files.map((item) => (item.startsWith('--') ? item : join(folder, item))),
    ...['--tls-ca-cert-file', join(folder, 'ca.crt')],
  ]);
}

test('a server that cannot listen ends, although it is connected to Redis', async () => {
  const redis = await aRedis();
  // The port of Redis is in use.
  const env = {
    PLUMBLINE_PORT: `${redis.port}`,
    PLUMBLINE_REDIS: `redis://127.0.0.1:${redis.port}`,
  };
  const { run } = await aCommand(env);
  const { status, stderr } = await run(['serve']);
  expect([status, stderr]).toEqual([1, expect.stringContaining('in use')]);
  expect(await redis.send('KEYS', 'plumbline:probe:*')).toHaveLength(1);
});
