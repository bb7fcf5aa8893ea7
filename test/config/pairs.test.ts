import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/config/variable.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const source = globSync('src/config/*.ts', { cwd: ROOT })
  .map((file) => readFileSync(`${ROOT}/${file}`, 'utf8'))
  .join('');
const VARIABLES = [...new Set(source.match(/PLUMBLINE_[A-Z_]*[A-Z](?![A-Z_])/g))];

/** Some are right for many variables, and each is wrong for most. */
const VALUES = ['nobody', '25', 'on', '/no/such', 'imaps://ada@mail.example.com', 'mx.example.com'];

function readAll(env: NodeJS.ProcessEnv): unknown {
  try {
    readConfig(env);
    return undefined;
  } catch (error) {
    return error instanceof ConfigError ? undefined : { env, error };
  }
}

test('a wrong value beside a right one of another variable crashed every command with a stack', () => {
  expect(VARIABLES.length).toBeGreaterThan(60);
  const smtp = { PLUMBLINE_SMTP_PORT: '2525', PLUMBLINE_SMTP_NAME: 'mx.example.com' };
  expect(readAll({ ...smtp, PLUMBLINE_SMTP_RECIPIENTS: 'nobody' })).toBeUndefined();
  const crashes = [];
  for (const [i, one] of VARIABLES.entries())
    for (const [j, other] of VARIABLES.slice(i + 1).entries())
      for (const k of [0, 1 + ((i + j) % 5)]) {
        const [value, beside] = [VALUES[k], VALUES[(k + i + j) % VALUES.length]];
        const crash = readAll({ ...(j % 2 === 0 && smtp), [one]: value, [other]: beside });
        if (crash !== undefined) crashes.push(crash);
      }
  expect(crashes.slice(0, 3)).toEqual([]);
});
