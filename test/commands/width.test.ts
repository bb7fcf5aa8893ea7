import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { plainWith } from '../support/intake.ts';
import { aProgram } from '../support/program.ts';

const PLAIN = fileURLToPath(new URL('../fixtures/example-plain.xml', import.meta.url));
const ACCOUNT =
  'A company whose name is about as long as a name of a company can be in this product';

/** A database in which every table has a row with long values. */
async function aFullDatabase(columns = '80') {
  const { folder, run, json } = aProgram({ COLUMNS: columns });
  const { id } = await json('account', 'create', ACCOUNT);
  const key = await json('key', 'create', id, 'The key of the dashboard in the operations centre');
  await json('key', 'disable', key.id);
  await json(
    'user',
    'add',
    id,
    'a-person-with-a-long-name@mail.department.example.com',
    '--invite',
  );
  await json('domain', 'add', id, 'example.com');
  await json('domain', 'add', id, `${'label-'.repeat(8)}x.department.example.org`);
  const files = join(folder, 'reports that came in by mail', 'with-a-long-name-'.repeat(5));
  mkdirSync(files, { recursive: true });
  cpSync(PLAIN, join(files, 'a.xml'));
  writeFileSync(join(files, 'b.xml'), plainWith('<count>7</count>', '<count>70</count>'));
  writeFileSync(join(files, 'c.xml'), '<feedback><report_metadata></feedback>');
  writeFileSync(
    join(files, 'd.xml'),
    plainWith('<domain>example.com</domain>', `<domain>${'long.'.repeat(20)}example</domain>`),
  );
  await run(['ingest', folder, '--quiet']);
  return { folder, run };
}

test('every table fits 80 columns, and no id in it is broken', async () => {
  const { run, folder } = await aFullDatabase();
  for (const args of [
    ['account', 'list'],
    ['key', 'list', ACCOUNT],
    ['user', 'list', ACCOUNT],
    ['domain', 'list', ACCOUNT],
    ['domain', 'list', '--unclaimed'],
    ['audit', ACCOUNT],
    ['document', 'list'],
    ['document', 'show', 'conflict-1'],
    ['ingest', folder],
  ]) {
    const { stdout } = await run(args);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length, args.join(' ')).toBeGreaterThan(2);
    expect(Math.max(...lines.map((line) => [...line].length)), stdout).toBeLessThanOrEqual(80);
    expect(stdout).not.toMatch(/^[0-9a-f]{8}-?$/m);
    expect(stdout).not.toMatch(/plb_live_(?!\w{4})/);
  }
});

test('alerts fit 80 columns', async () => {
  const { run } = await aFullDatabase();
  const { stdout } = await run(['alerts', 'explain', 'example.com', 'alignment_regression']);
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
});

test('a pipe gets whole lines, whatever their width is', async () => {
  const { run } = await aFullDatabase('');
  const { stdout } = await run(['key', 'list', ACCOUNT]);
  expect(stdout.trimEnd().split('\n')).toHaveLength(3);
  expect(stdout).toContain('The key of the dashboard in the operations centre');
  const explained = await run(['alerts', 'explain', 'example.com', 'reports_missing']);
  expect(explained.stdout).toMatch(/^Reports came on .* of the 14 days .*\.$/m);
});
