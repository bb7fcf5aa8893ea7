import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aFolder } from '../support/command.ts';

const UNITS = new URL('../../docs/operate/systemd/', import.meta.url).pathname;
const names = readdirSync(UNITS);
const services = names.filter((name) => name.endsWith('.service'));

/** The command that the units name is not installed here. */
async function copyUnits(): Promise<string[]> {
  const folder = await aFolder();
  return names.map((name) => {
    const text = readFileSync(join(UNITS, name), 'utf8');
    const copy = join(folder, name);
    writeFileSync(copy, text.replace('/usr/local/bin/plumbline', process.execPath));
    return copy;
  });
}

test('systemd finds nothing to say about the units, nor about servers that share a port', async () => {
  const output = execFileSync('systemd-analyze', ['verify', ...(await copyUnits())], {
    stdio: 'pipe',
  });
  expect(output.toString()).toBe('');
  expect(names).toHaveLength(7);
});

test('the template of servers that share a port is the unit of one server', () => {
  const read = (name: string) => readFileSync(join(UNITS, name), 'utf8').split('\n');
  const [one, many] = [read('plumbline.service'), read('plumbline@.service')];
  const added = many.filter((line) => !one.includes(line));
  expect(many.filter((line) => one.includes(line))).toEqual(
    one.filter((line) => !line.startsWith('Description=')),
  );
  expect(added).toEqual([
    expect.stringMatching(/^Description=/),
    expect.stringMatching(/^#/),
    'Environment=PLUMBLINE_SHARE_PORT=on PLUMBLINE_METRICS_PORT=946%i',
  ]);
});

/** Both ways by which a renewed certificate comes to the SMTP door, with other paths and the group of root. */
test.each([
  [
    'certbot',
    /#!\/bin\/sh\nset -e\n[\s\S]*?(?=```)/,
    '../mail.md',
    ['fullchain.pem', 'privkey.pem'],
  ],
  [
    'Caddy',
    /(?<=ExecStart=)install.*\nExecStart=install.*/,
    'plumbline-certificate.service',
    ['dmarc.example.com.crt', 'dmarc.example.com.key'],
  ],
])(
  'the certificate that %s renewed is copied for the group alone',
  async (_name, script, file, given) => {
    const [from, to] = [await aFolder(), await aFolder()];
    for (const name of given) writeFileSync(join(from, name), name);
    const text = script.exec(readFileSync(join(UNITS, file), 'utf8'))?.[0] ?? '';
    const run = text
      .replaceAll('ExecStart=', '')
      .replaceAll('/etc/plumbline', to)
      .replaceAll('-g plumbline', '-g root');
    execFileSync('sh', ['-c', run], { cwd: from, env: { ...process.env, RENEWED_LINEAGE: from } });
    const copies = ['smtp-cert.pem', 'smtp-key.pem'].map((name) => join(to, name));
    expect(copies.map((path) => readFileSync(path, 'utf8'))).toEqual(given);
    expect(copies.map((path) => statSync(path).mode & 0o777)).toEqual([0o640, 0o640]);
  },
);

test.each(services)('the exposure of %s is below 2.5', (name) => {
  // Tenths. It ends with 1 above the threshold.
  const args = ['security', '--offline=true', '--threshold=25', '--no-pager', join(UNITS, name)];
  const output = execFileSync('systemd-analyze', args, { stdio: 'pipe' }).toString();
  expect(output).toMatch(/Overall exposure level for .*: [12]\.\d OK/);
});
