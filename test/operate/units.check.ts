import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aFolder } from '../support/command.ts';

const UNITS = new URL('../../docs/operate/systemd/', import.meta.url).pathname;
const names = readdirSync(UNITS);
const services = names.filter((name) => name.endsWith('.service'));

/** The command that the units name is not installed here. */
async function copyUnits(): Promise<string[]> {
  const folder = await aFolder();
  const copyAs = (copied: string, name: string) => {
    const text = readFileSync(join(UNITS, name), 'utf8');
    const copy = join(folder, copied);
    writeFileSync(copy, text.replace('/usr/local/bin/plumbline', process.execPath));
    return copy;
  };
  return [
    ...names.map((name) => copyAs(name, name)),
    copyAs('plumbline@.service', 'plumbline.service'),
  ];
}

test('systemd finds nothing to say about the units, nor about servers that share a port', async () => {
  const output = execFileSync('systemd-analyze', ['verify', ...(await copyUnits())], {
    stdio: 'pipe',
  });
  expect(output.toString()).toBe('');
  expect(names).toHaveLength(4);
});

test.each(services)('the exposure of %s is below 2.5', (name) => {
  // Tenths. It ends with 1 above the threshold.
  const args = ['security', '--offline=true', '--threshold=25', '--no-pager', join(UNITS, name)];
  const output = execFileSync('systemd-analyze', args, { stdio: 'pipe' }).toString();
  expect(output).toMatch(/Overall exposure level for .*: [12]\.\d OK/);
});
