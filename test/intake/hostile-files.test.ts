import { execFileSync } from 'node:child_process';
import { appendFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { listFiles, readFile } from '../../src/intake/inputs/files.ts';
import { MAX_INPUT_BYTES } from '../../src/intake/limits.ts';

const isLinux = process.platform === 'linux';
let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plumbline-'));
  await writeFile(join(folder, 'a.xml'), 'good');
  await writeFile(join(folder, 'z.xml'), 'good');
});

afterEach(() => {
  // rm(1) also removes paths that are longer than the system's limit.
  execFileSync('rm', ['-rf', folder]);
});

/** The results for all files at some paths: `name content` or `name reason`. */
async function readAll(...paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for await (const path of listFiles(paths)) found.push(await outcomeOf(path));
  return found;
}

async function outcomeOf(path: string): Promise<string> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  try {
    return `${name} ${String((await readFile(path)).bytes)}`;
  } catch (error) {
    return `${name} ${(error as { reason?: string }).reason}`;
  }
}

const GOOD = ['a.xml good', 'z.xml good'];
const mkfifo = (path: string) => execFileSync('sh', ['-c', 'mkfifo "$0"', path]);

async function aSocket(path: string): Promise<void> {
  const server = createServer().listen(path);
  await new Promise((resolve) => server.once('listening', resolve));
  server.unref();
}

describe('in a folder, only regular files are read', () => {
  test.each<[string, (path: string) => unknown]>([
    ['a link to a secret', (path) => symlink('/etc/passwd', path)],
    ['a link to the environment of the process', (path) => symlink('/proc/self/environ', path)],
    ['a link to itself', (path) => symlink(path, path)],
    ['a link to a folder above', (path) => symlink('..', path)],
    ['a link to a device without an end', (path) => symlink('/dev/zero', path)],
    ['a link without a target', (path) => symlink('nowhere', path)],
    ['a link to a report beside it', (path) => symlink('a.xml', path)],
    ['a pipe without a writer', mkfifo],
    ['a socket', aSocket],
  ])('%s', async (_, make) => {
    await make(join(folder, 'm.xml'));
    expect(await readAll(folder)).toEqual(GOOD);
  });
});

describe('a file that cannot be read is a document of its own, and the next one is read', () => {
  test.each<[string, () => unknown, string]>([
    [
      'a name that is not UTF-8',
      () => writeFileSync(Buffer.concat([Buffer.from(`${folder}/m`), Buffer.from([0xff])]), 'x'),
      'm\ufffd unreadable',
    ],
    ['a file over the limit', () => truncateTo('m.xml', MAX_INPUT_BYTES + 1), 'm.xml too_large'],
    [
      'a folder whose name is not UTF-8',
      () => execFileSync('sh', ['-c', `mkdir "$(printf 'm\\377')"`], { cwd: folder }),
      'm\ufffd unreadable',
    ],
    [
      'folders nested deeper than the length of a path allows',
      () =>
        execFileSync(
          'sh',
          ['-c', `n=$(printf 'm%0200d' 0); for i in $(seq 30); do mkdir $n; cd -P $n; done`],
          { cwd: folder },
        ),
      `m${'0'.repeat(200)} unreadable`,
    ],
  ])('%s', async (_, make, outcome) => {
    await make();
    expect(await readAll(folder)).toEqual([GOOD[0], outcome, GOOD[1]]);
  });

  it('a file that is removed before it is read', async () => {
    await writeFile(join(folder, 'm.xml'), 'short-lived');
    const found: string[] = [];
    for await (const path of listFiles([folder])) {
      found.push(await outcomeOf(path));
      await rm(join(folder, 'm.xml'), { force: true });
    }
    expect(found).toEqual([GOOD[0], 'm.xml unreadable', GOOD[1]]);
  });

  test.each<[string, (path: string) => unknown]>([
    ['a link', (path) => symlinkSync('/etc/passwd', path)],
    ['a pipe', mkfifo],
    ['a folder', (path) => execFileSync('mkdir', [path])],
  ])('a file that is replaced by %s before it is read', async (_, make) => {
    const path = join(folder, 'm.xml');
    await writeFile(path, 'honest');
    const found: string[] = [];
    for await (const file of listFiles([folder])) {
      if (file === path) {
        await rm(path);
        make(path);
      }
      found.push(await outcomeOf(file));
    }
    expect(found).toEqual([GOOD[0], 'm.xml unreadable', GOOD[1]]);
  });

  it('a folder that is removed before it is read', async () => {
    await mkdir(join(folder, 'm'));
    const found: string[] = [];
    for await (const path of listFiles([folder])) {
      found.push(await outcomeOf(path));
      await rename(join(folder, 'm'), join(folder, '.m')).catch(() => undefined);
    }
    expect(found).toEqual([GOOD[0], 'm unreadable', GOOD[1]]);
  });
});

describe('paths of the command line', () => {
  it('a link to a file is read as that file', async () => {
    await symlink(join(folder, 'a.xml'), join(folder, 'link.xml'));
    expect(await readAll(join(folder, 'link.xml'))).toEqual(['a.xml good']);
  });

  test.each<[string, (path: string) => unknown]>([
    ['a link to itself', (path) => symlink(path, path)],
    ['a link to a folder', (path) => symlink(folder, path)],
    ['a link to a device', (path) => symlink('/dev/zero', path)],
    ['a pipe', mkfifo],
    ['a socket', aSocket],
    ['a path through a file', () => undefined],
  ])('%s is unreadable', async (_, make) => {
    const path = join(folder, 'm.xml');
    await make(path);
    expect(await readAll(path, join(folder, 'z.xml'))).toEqual(['m.xml unreadable', GOOD[1]]);
  });

  test
    .runIf(isLinux)
    .each([
      '/dev/zero',
      '/dev/tty',
      '/proc/self/environ',
      '/proc/self/fd/0',
      '/proc',
      '/proc/self',
      '/sys/kernel',
      '/proc/kmsg',
    ])('%s is never read', async (path) => {
    const found = await readAll(path, join(folder, 'a.xml'));
    expect(found).toHaveLength(2);
    expect([found[0]?.endsWith(' unreadable'), found[1]]).toEqual([true, GOOD[0]]);
  });

  it('a path of 100,000 characters is unreadable', async () => {
    const found = await readAll(join(folder, 'm'.repeat(100_000)), join(folder, 'a.xml'));
    expect(found.map((text) => text.slice(-10))).toEqual(['unreadable', 'a.xml good']);
  });
});

it('a file that grows is read up to its length when it was opened', async () => {
  const path = join(folder, 'a.xml');
  const { bytes } = await readFile(path);
  appendFileSync(path, ' and more');
  expect(String(bytes)).toBe('good');
  expect(String((await readFile(path)).bytes)).toBe('good and more');
});

it.runIf(isLinux)('reading leaves no file open, whatever the result', async () => {
  mkfifo(join(folder, 'm.xml'));
  const before = openFiles();
  for (let i = 0; i < 20; i += 1)
    await readAll(folder, join(folder, 'm.xml'), '/proc/self/environ', folder);
  expect(openFiles()).toBeLessThan(before + 10);
});

const openFiles = (): number => readdirSync('/proc/self/fd').length;

async function truncateTo(name: string, bytes: number): Promise<void> {
  await writeFile(join(folder, name), '');
  await truncate(join(folder, name), bytes);
}
