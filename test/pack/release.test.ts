import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { describeRelease, signRelease } from '../../scripts/pack/release-folder.ts';
import { aFolder } from '../support/command.ts';

const CHANGELOG = `# Changelog

## Unreleased

- Something new.

## 1.2.0 (2026-12-01)

### API

- \`/v1/external/changes\`

## 1.2.0-1 (2026-12-02)

- A correction.
`;

const clients = [
  'clients/plumbline-client-1.2.0.tgz',
  'clients/plumbline_client-1.2.0-py3-none-any.whl',
];

const OTHERS = ['v1.yaml', 'v1.json', 'components.cdx.json'];

/** A folder with what was packed. */
async function aRelease(service: string): Promise<string> {
  const folder = await aFolder();
  for (const file of [service, ...clients, ...OTHERS]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), `What is in ${file}.`);
  }
  return folder;
}

test('every file of a release has its checksum, as sha256sum --check reads it', async () => {
  const folder = await aRelease('plumbline-1.2.0.tgz');
  describeRelease(folder, CHANGELOG, { isSigned: false });
  const lines = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
  const files = lines.map((line) => {
    const [, sum, file = ''] = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line) ?? [];
    expect(sum).toBe(hash('sha256', readFileSync(join(folder, file)), 'hex'));
    return file;
  });
  const there = globSync('**/*.*', { cwd: folder });
  expect(files.sort()).toEqual([...there].sort());
  expect(files).toEqual([...clients, 'NOTES.md', 'plumbline-1.2.0.tgz', ...OTHERS].sort());
});

test('the notes name each file, and have the changes of that version alone', async () => {
  const folder = await aRelease('plumbline-1.2.0.tgz');
  describeRelease(folder, CHANGELOG, { isSigned: false });
  const notes = readFileSync(join(folder, 'NOTES.md'), 'utf8');
  expect(notes).toMatch(/^# Plumbline 1\.2\.0\n/);
  for (const file of ['plumbline-1.2.0.tgz', ...clients, ...OTHERS])
    expect(notes).toContain(`\`${file}\``);
  expect(notes).toContain('### API\n\n- `/v1/external/changes`');
  expect(notes).not.toMatch(/Something new|A correction/);
});

test('the notes of a commit that is not released have what is not released', async () => {
  const folder = await aRelease('plumbline-1.3.0-dev.tgz');
  describeRelease(folder, CHANGELOG, { isSigned: false });
  const notes = readFileSync(join(folder, 'NOTES.md'), 'utf8');
  expect(notes).toContain('- Something new.');
  expect(notes).not.toContain('changes`');
});

test('a release that lacks a file, or has one twice, is not described', async () => {
  const folder = await aRelease('plumbline-1.2.0.tgz');
  writeFileSync(join(folder, 'plumbline-1.1.0.tgz'), 'An older one.');
  expect(() => describeRelease(folder, CHANGELOG, { isSigned: false })).toThrow(
    'no one plumbline-*.tgz',
  );
  rmSync(join(folder, 'plumbline-1.1.0.tgz'));
  rmSync(join(folder, 'v1.json'));
  expect(() => describeRelease(folder, CHANGELOG, { isSigned: false })).toThrow('no one v1.json');
});

test('the notes of a signed release name the signature, and their commands verify it', async () => {
  const folder = await aRelease('plumbline-1.2.0.tgz');
  describeRelease(folder, CHANGELOG, { isSigned: false });
  expect(readFileSync(join(folder, 'NOTES.md'), 'utf8')).not.toMatch(/SHA256SUMS\.sig|ssh-keygen/);
  const key = join(await aFolder(), 'plumbline-release');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  describeRelease(folder, CHANGELOG, { isSigned: true });
  signRelease(folder, key);
  const notes = readFileSync(join(folder, 'NOTES.md'), 'utf8');
  expect(notes).toContain('- `SHA256SUMS.sig`: ');
  const [, commands = ''] = /```sh\n(.*?)```/s.exec(notes) ?? [];
  copyFileSync(`${key}.pub`, join(folder, 'plumbline-release.pub'));
  const verify = () => execFileSync('sh', ['-ec', commands], { cwd: folder, stdio: 'pipe' });
  expect(verify().toString()).toContain('Good "plumbline-release" signature');
  writeFileSync(join(folder, 'SHA256SUMS'), 'Other sums.');
  expect(verify).toThrow('verification failed');
});
