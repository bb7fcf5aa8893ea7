import {
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Incoming, MAX_INCOMING_BYTES } from '../../../src/domain/incoming.ts';
import {
  chooseFiles,
  directFiles,
  type Files,
  pooledFiles,
} from '../../../src/intake/doors/folder/files.ts';
import { watchFolder } from '../../../src/intake/doors/folder/folder-door.ts';
import { createMoves } from '../../../src/intake/doors/folder/move.ts';
import {
  Changed,
  findFile,
  type WatchedFile,
} from '../../../src/intake/doors/folder/watched-file.ts';
import { aFolder } from '../../support/command.ts';
import { MemoryInbox } from '../../support/imap-door.ts';

/** Files settle by this clock, which is ahead of that of the file system. */
beforeEach(() => {
  const realNow = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + 10_000);
  return () => vi.restoreAllMocks();
});

/** A door at the path, and an inbox in memory that nobody reads until `toResult` says so. */
function aDoor(path: string) {
  const inbox = new MemoryInbox();
  inbox.toResult = () => 'waiting';
  const [warnings, places]: [string[], string[]] = [[], []];
  let passes = 0;
  const door = watchFolder({
    ...{ path, done: 'leave', pollMs: 5, now: () => new Date('2026-08-01T00:00:00Z') },
    deliver: async ({ key = '', envelope, bytes }: Incoming) => {
      places.push(envelope.place ?? '');
      for await (const _chunk of bytes as AsyncIterable<Uint8Array>);
      inbox.mails.set(key, '');
    },
    findResults: inbox.toGiven().findResults,
    noteDoor: async () => {
      passes += 1;
    },
    warn: ({ path: at }, message) => warnings.push(`${at}: ${message}`),
  });
  onTestFinished(door.stop);
  return { inbox, warnings, places, countPasses: () => passes };
}

test.each([
  ['at which there is nothing', '/nowhere/reports', /there is no such file .*make it, or correct/],
  ['of a device', '/dev/null', /it is neither a folder nor a mailbox file/],
  ['within a file', `${import.meta.filename}/x`, /a part of the path is a file/],
])(
  'a path %s is named once with what is wrong, and looked at again and again',
  async (_what, path, words) => {
    const { warnings, countPasses } = aDoor(path);
    while (countPasses() < 5) await sleep(5);
    expect(warnings).toEqual([expect.stringMatching(words)]);
    expect(warnings[0]).toContain(`Nothing is taken from ${path}`);
  },
);

test('a file that is larger than a mail may be is named once and never read', async () => {
  const folder = await aFolder();
  const path = join(folder, 'large.xml');
  writeFileSync(path, '');
  truncateSync(path, MAX_INCOMING_BYTES + 1);
  writeFileSync(join(folder, 'other.xml'), 'x');
  const { warnings, places, countPasses } = aDoor(folder);
  while (places.length === 0 || countPasses() < 5) await sleep(5);
  expect(places).toEqual([join(folder, 'other.xml')]);
  expect(warnings).toEqual([expect.stringContaining('large.xml: The file is left where it is')]);
});

test('a file that comes alone is not read after thousands that came before it', async () => {
  const folder = await aFolder();
  for (let i = 0; i < 2_000; i += 1) writeFileSync(join(folder, `${i}.xml`), 'x');
  const { inbox, places } = aDoor(folder);
  while (places.length < 400) await sleep(5);
  const alone = join(folder, 'alone.xml');
  writeFileSync(alone, 'x');
  await sleep(500);
  inbox.toResult = () => 'processed';
  while (places.length < 2_001) await sleep(5);
  expect(places.indexOf(alone)).toBeLessThan(600);
});

test('files whose reading was put off for hours do not keep the others from being read', async () => {
  const folder = await aFolder();
  for (let i = 0; i < 700; i += 1) writeFileSync(join(folder, `${i}.xml`), 'x');
  const { inbox, places } = aDoor(folder);
  inbox.toResult = () => 'delayed';
  while (places.length < 700) await sleep(5);
  expect(new Set(places).size).toBe(700);
});

describe.each([
  ['of a disk', directFiles],
  ['of a server of files', pooledFiles],
])('a folder %s', (_name, files) => {
  /** A file whose name another one is taking is moved later. */
  const moveInTheEnd = async (file: WatchedFile): Promise<void> => {
    await moveOne(files, file).catch((error: unknown) => {
      if (!(error instanceof Changed)) throw error;
      return moveInTheEnd(file);
    });
  };

  test('keeps both of two files that are filed under one name at once', async () => {
    const folder = await aMaildir();
    for (let i = 0; i < 20; i += 1) {
      const names = [`${i}.host`, `${i}.host:2,S`];
      const found = await Promise.all(names.map((name) => aNewMail(folder, name)));
      await Promise.all(found.map(moveInTheEnd));
    }
    const contents = readdirSync(join(folder, 'cur')).map((name) =>
      readFileSync(join(folder, 'cur', name), 'utf8'),
    );
    expect(new Set(contents).size).toBe(40);
  });

  test('does not keep an empty file that a killed process left in the place of a mail', async () => {
    const folder = await aMaildir();
    const left = join(folder, 'cur', '1.host:2,S');
    const file = await aNewMail(folder, '1.host');
    writeFileSync(left, '');
    await expect(moveOne(files, file)).rejects.toThrow(Changed);
    expect(readFileSync(left, 'utf8')).toBe('');
    utimesSync(left, new Date(0), new Date(0));
    await expect(moveOne(files, file)).rejects.toThrow(Changed);
    expect(await moveOne(files, file)).toBe(true);
    expect(readdirSync(join(folder, 'cur'))).toEqual(['1.host:2,S']);
    expect(readFileSync(left, 'utf8')).toBe('1.host');
  });

  test('gets a few empty files, not one for each that is moved: ext4 took longer for each', async () => {
    const folder = await aMaildir();
    let made = 0;
    const counted: Files = {
      ...files,
      open: (path, flags) => {
        made += Number(flags === 'wx');
        return files.open(path, flags);
      },
    };
    const { move, end } = createMoves(counted, 'maildir');
    for (let i = 0; i < 100; i += 1) await move(await aNewMail(folder, `${i}.host`), 'processed');
    await end();
    expect(readdirSync(join(folder, 'cur'))).toHaveLength(100);
    expect(made).toBeLessThan(20);
  });

  test('has its files moved where the file system has no hard links', async () => {
    const folder = await aMaildir();
    const link = () => Promise.reject(Object.assign(new Error(), { code: 'EPERM' }));
    expect(await moveOne({ ...files, link }, await aNewMail(folder, '1.host'))).toBe(true);
    expect(readdirSync(join(folder, 'cur'))).toEqual(['1.host:2,S']);
  });
});

test.runIf(process.platform === 'linux')(
  'a file system that is not known to answer at once is asked by the thread pool',
  async () => {
    expect(await chooseFiles(Buffer.from('/proc'))).toBe(pooledFiles);
    expect(await chooseFiles(Buffer.from('/dev/shm'))).toBe(directFiles);
  },
);

async function aMaildir(): Promise<string> {
  const folder = await aFolder();
  for (const part of ['new', 'cur']) mkdirSync(join(folder, part));
  return folder;
}

/** Has its name as content. */
async function aNewMail(folder: string, name: string): Promise<WatchedFile> {
  const path = join(folder, 'new', name);
  writeFileSync(path, name);
  const file = await findFile(pooledFiles, path);
  if (file === undefined) throw new Error('there is no file');
  return file;
}

async function moveOne(files: Files, file: WatchedFile): Promise<boolean> {
  const { move, end } = createMoves(files, 'maildir');
  return await move(file, 'processed').finally(end);
}

test('a mailbox file with many messages waits for room in the inbox', async () => {
  const path = join(await aFolder(), 'mbox');
  const message = (i: number) =>
    `From a@example.net Mon Jan  1 00:00:00 2026\nSubject: ${i}\n\n${i}\n\n`;
  writeFileSync(path, Array.from({ length: 1_200 }, (_, i) => message(i)).join(''));
  const { inbox, places } = aDoor(path);
  while (places.length < 400) await sleep(5);
  await sleep(300);
  expect(places).toHaveLength(400);
  inbox.toResult = () => 'processed';
  while (places.length < 1_200) await sleep(5);
});
