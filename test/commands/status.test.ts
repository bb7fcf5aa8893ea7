import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { aFolder } from '../support/command.ts';
import { aProgram } from '../support/program.ts';

const NO_SUCH = '00000000-0000-4000-8000-000000000000';

describe('exit status', () => {
  test.each([
    ['an unknown command', ['frobnicate'], 2],
    ['an unknown option', ['account', 'list', '--frobnicate'], 2],
    ['a missing argument', ['account', 'create'], 2],
    ['a plan that does not exist', ['account', 'create', 'A', '--plan', 'gold'], 2],
    ['an account that does not exist', ['key', 'list', NO_SUCH], 1],
    ['a domain that does not exist', ['domain', 'pause', NO_SUCH], 1],
    ['help', ['--help'], 0],
    ['the version', ['--version'], 0],
    ['an empty list', ['key', 'list', 'A'], 0],
  ] as const)('%s', async (_name, args, status) => {
    const { run, json } = aProgram();
    await json('account', 'create', 'A');
    expect((await run(args)).status).toBe(status);
  });

  test.each([
    [['account', 'create'], 'account create'],
    [['account', 'list', '--frobnicate'], 'account list'],
    [['account', 'frobnicate'], 'account'],
    [['ingest'], 'ingest'],
  ])('%j named the list of all commands, not the help of its own', async (args, command) => {
    const { stderr } = await aProgram().run(args);
    expect(stderr).toContain(`(plumbline ${command} --help says how to use it)`);
  });

  test('an invalid configuration is reported with the name of each variable', async () => {
    const { run } = aProgram({
      PLUMBLINE_PORT: 'eighty',
      PLUMBLINE_TRUSTED_PROXIES: '10.0.0.0/33',
    });
    const { status, stderr } = await run(['serve']);
    expect(status).toBe(2);
    expect(stderr).toMatch(/PLUMBLINE_PORT/);
    expect(stderr).toMatch(/PLUMBLINE_TRUSTED_PROXIES/);
  });
});

describe('the configuration file', () => {
  test('is the one that PLUMBLINE_CONFIG names; the environment has precedence', async () => {
    const PLUMBLINE_CONFIG = join(await aFolder(), 'plumbline.env');
    writeFileSync(PLUMBLINE_CONFIG, 'PLUMBLINE_LOG_LEVEL=nonsense\n');
    const { status, stderr } = await aProgram({ PLUMBLINE_CONFIG }).run(['account', 'list']);
    expect([status, stderr]).toEqual([2, expect.stringContaining('PLUMBLINE_LOG_LEVEL')]);
    const overruled = aProgram({ PLUMBLINE_CONFIG, PLUMBLINE_LOG_LEVEL: 'warn' });
    expect((await overruled.run(['account', 'create', 'A'])).status).toBe(0);
  });

  test('that is named and does not exist is wrong usage', async () => {
    const { run } = aProgram({ PLUMBLINE_CONFIG: '/nowhere/plumbline.env' });
    const { status, stderr } = await run(['account', 'list']);
    expect([status, stderr]).toEqual([2, expect.stringContaining('PLUMBLINE_CONFIG')]);
  });
});

describe('a command that only reads', () => {
  test.each([
    [['account', 'list']],
    [['domain', 'list', '--unclaimed']],
    [['key', 'list', 'A']],
    [['user', 'list', 'A']],
    [['audit', 'A']],
    [['alerts', 'list', 'A']],
    [['document', 'list']],
  ])('makes no database: %j says where there is none, and how to name another', async (args) => {
    const { run, database } = aProgram();
    const { status, stdout, stderr } = await run(args);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`There is no database at ${database}. Set PLUMBLINE_DATABASE`);
    expect(existsSync(database)).toBe(false);
  });

  test('a command that makes a database says so, once', async () => {
    const { run, database } = aProgram();
    const { stderr } = await run(['account', 'create', 'A']);
    expect(stderr).toBe(`A new database was made: ${database}\n`);
    expect((await run(['account', 'create', 'B'])).stderr).toBe('');
  });
});

describe('options of every command', () => {
  test.each([
    ['before', (file: string) => ['--config', file, 'account', 'list']],
    ['after', (file: string) => ['account', 'list', '--config', file]],
  ])('--config %s the command names the configuration', async (_where, toArgs) => {
    const { run, folder } = aProgram();
    const file = join(folder, 'other.env');
    writeFileSync(file, 'PLUMBLINE_LOG_LEVEL=nonsense\n');
    const { status, stderr } = await run(toArgs(file));
    expect([status, stderr]).toEqual([2, expect.stringContaining('PLUMBLINE_LOG_LEVEL')]);
  });

  test('--quiet prints no hints, before the command and after it', async () => {
    const { run } = aProgram();
    expect((await run(['--quiet', 'account', 'create', 'A'])).stderr).toBe('');
    expect((await run(['key', 'create', 'A', 'x', '--quiet'])).stderr).toBe('');
    expect((await run(['key', 'create', 'A', 'y'])).stderr).toContain('Store the key now');
  });

  test('--json before the command is the same as after it', async () => {
    const { run, json } = aProgram();
    await json('account', 'create', 'A');
    const after = await run(['account', 'list', '--json']);
    expect(JSON.parse(after.stdout)).toMatchObject([{ name: 'A' }]);
    expect((await run(['--json', 'account', 'list'])).stdout).toBe(after.stdout);
  });
});

test('a database that other users can read is warned about', async () => {
  const { run, json, folder, database } = aProgram();
  await json('account', 'create', 'A');
  chmodSync(database, 0o644);
  chmodSync(folder, 0o755);
  const { status, stderr } = await run(['account', 'list']);
  expect(status).toBe(0);
  expect(stderr).toBe(
    `Warning: Other users can access ${database} (mode 0644). To end that: chmod 600 ${database}\n`,
  );
  chmodSync(database, 0o600);
  expect((await run(['account', 'list'])).stderr).toBe('');
});
