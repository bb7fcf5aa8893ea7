import { chmod, mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { listFiles, readFile, readInput } from '../../src/intake/inputs/files.ts';
import { MAX_INPUT_BYTES } from '../../src/intake/limits.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plumbline-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function write(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), path);
  }
}

async function list(...paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for await (const path of listFiles(paths.map((name) => join(folder, name))))
    found.push(relative(folder, path));
  return found;
}

describe('listFiles', () => {
  it('returns files in the given order', async () => {
    await write('b.xml', 'a.xml');
    expect(await list('b.xml', 'a.xml', 'b.xml')).toEqual(['b.xml', 'a.xml', 'b.xml']);
  });

  it('returns all that is in a folder, sorted by name', async () => {
    await write('c.xml', 'a.xml', 'b/z.xml', 'b/a/deep.xml', 'b/Z.xml');
    expect(await list('')).toEqual(['a.xml', 'b/Z.xml', 'b/a/deep.xml', 'b/z.xml', 'c.xml']);
  });

  it('leaves out hidden files and folders unless they are given', async () => {
    await write('.hidden.xml', '.git/config', 'a.xml');
    expect(await list('', '.hidden.xml')).toEqual(['a.xml', '.hidden.xml']);
  });

  it('leaves out links, whatever their target', async () => {
    await write('a/report.xml');
    await symlink(folder, join(folder, 'a', 'loop'));
    await symlink(join(folder, 'a', 'report.xml'), join(folder, 'a', 'same.xml'));
    await symlink(join(folder, 'nowhere'), join(folder, 'a', 'broken'));
    expect(await list('')).toEqual(['a/report.xml']);
  });

  it('returns a missing path, so that reading it gives the error', async () => {
    expect(await list('nowhere')).toEqual(['nowhere']);
  });

  it('returns a folder that is too deep, so that reading it gives the error', async () => {
    const path = Array(33).fill('d').join('/');
    await write(`${path}/a.xml`);
    expect(await list('')).toEqual([path.slice(0, 2 * 32 - 1)]);
  });
});

describe('readFile', () => {
  it('returns the bytes and the name', async () => {
    await write('a.xml');
    const name = join(folder, 'a.xml');
    expect(await readFile(name)).toEqual({ name, bytes: Buffer.from('a.xml') });
  });

  test.each([
    ['nowhere', 'a file that does not exist'],
    ['', 'a folder'],
  ])('"%s", %s, is unreadable', async (path) => {
    await expect(readFile(join(folder, path))).rejects.toMatchObject({ reason: 'unreadable' });
  });

  it.skipIf(process.getuid?.() === 0)('a file without permission is unreadable', async () => {
    await write('a.xml');
    await chmod(join(folder, 'a.xml'), 0);
    await expect(readFile(join(folder, 'a.xml'))).rejects.toMatchObject({ reason: 'unreadable' });
  });

  it('a file over the limit is too_large', async () => {
    await write('a.xml');
    await truncate(join(folder, 'a.xml'), MAX_INPUT_BYTES + 1);
    await expect(readFile(join(folder, 'a.xml'))).rejects.toMatchObject({ reason: 'too_large' });
  });
});

describe('readInput', () => {
  it('reads a stream to its end', async () => {
    const stream = Readable.from([Buffer.from('<feed'), Buffer.from('back/>')]);
    const { name, bytes } = await readInput('standard input', stream);
    expect([name, String(bytes)]).toEqual(['standard input', '<feedback/>']);
  });

  it('stops at the limit, however long the stream is', async () => {
    let chunks = 0;
    const endless = (async function* () {
      for (;;) {
        chunks += 1;
        yield Buffer.alloc(16 * 1024 * 1024);
      }
    })();
    await expect(readInput('-', endless)).rejects.toMatchObject({ reason: 'too_large' });
    expect(chunks).toBe(9);
  });
});
