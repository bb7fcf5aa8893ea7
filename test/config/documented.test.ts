import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const manual = readFileSync(`${ROOT}/docs/manual.md`, 'utf8');

const source = globSync('src/config/*.ts', { cwd: ROOT })
  .map((file) => readFileSync(`${ROOT}/${file}`, 'utf8'))
  .join('');
/** That of partners' programs, which a shell with both may have. */
const OTHER = 'PLUMBLINE_API_KEY';
const variables = [...new Set(source.match(/PLUMBLINE_[A-Z_]*[A-Z](?![A-Z_])/g))].filter(
  (variable) => variable !== OTHER,
);

/** A row may have several variables: `PLUMBLINE_OIDC_ISSUER`, `…_CLIENT_ID`. */
function isNamed(variable: string): boolean {
  const parts = variable.split('_');
  const ends = parts.map((_, i) => `\`…_${parts.slice(i).join('_')}\``);
  return manual.includes(variable) || ends.some((end) => manual.includes(end));
}

test('docs/manual.md names each variable of the configuration', () => {
  expect(variables.length).toBeGreaterThan(40);
  expect(variables.filter((variable) => !isNamed(variable))).toEqual([]);
});
