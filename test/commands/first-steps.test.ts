import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { findNaming, renderFirstSteps } from '../../src/commands/serving/first-steps.ts';
import { readConfig } from '../../src/config/config.ts';
import { loadConfigFile } from '../../src/config/file.ts';
import { aFolder } from '../support/command.ts';

const COMMAND = /^ {2}(.*?) (?:account|domain|key|user|ingest) (.*)$/;

test.each([
  [
    'a checkout',
    'file:///opt/plumbline/src/commands/first-steps.ts',
    'npm run plumbline --',
    'npm run demo',
  ],
  [
    'a package',
    'file:///usr/lib/plumbline/dist/commands/first-steps.js',
    'plumbline',
    'plumbline demo',
  ],
])('the first steps in %s are commands that work there', (_where, module, plumbline, demo) => {
  const lines = renderFirstSteps('/tmp/a.db', { before: '', after: '' }, module).split('\n');
  const commands = lines.flatMap((line) => COMMAND.exec(line)?.[1] ?? []);
  expect(commands).toEqual(Array(5).fill(plumbline));
  expect(lines).toContain(`Or stop this, and look around with made-up data: ${demo}`);
});

test('each of the first steps names the database as it was named', () => {
  const naming = { before: 'PLUMBLINE_DATABASE=/tmp/a.db ', after: ' --config /tmp/a.env' };
  const lines = renderFirstSteps('/tmp/a.db', naming, 'dist/first-steps.js').split('\n');
  const commands = lines.filter((line) => COMMAND.test(line));
  expect(commands).toHaveLength(5);
  for (const line of commands)
    expect(line).toMatch(
      /^ {2}PLUMBLINE_DATABASE=\/tmp\/a\.db plumbline .* --config \/tmp\/a\.env$/,
    );
});

test('a database is named by what configures it, and the default one by nothing', async () => {
  const folder = await aFolder();
  const file = join(folder, 'a b.env');
  writeFileSync(file, 'PLUMBLINE_DATABASE=other.db\n');
  const named = (given: NodeJS.ProcessEnv, config?: string) => {
    const env = { ...given };
    loadConfigFile(env, config);
    return findNaming(readConfig(env).database, env, config);
  };
  const none = { before: '', after: '' };
  expect(named({})).toEqual(none);
  expect(named({}, file)).toEqual({ ...none, after: ` --config '${file}'` });
  expect(named({ PLUMBLINE_CONFIG: file })).toEqual({
    ...none,
    before: `PLUMBLINE_CONFIG='${file}' `,
  });
  const inEnvironment = { ...none, before: `PLUMBLINE_DATABASE=${resolve('mine.db')} ` };
  expect(named({ PLUMBLINE_DATABASE: 'mine.db' })).toEqual(inEnvironment);
  expect(named({ PLUMBLINE_DATABASE: 'mine.db' }, file)).toEqual(inEnvironment);
});
