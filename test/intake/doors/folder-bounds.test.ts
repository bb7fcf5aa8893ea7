import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { type Incoming, MAX_INCOMING_BYTES } from '../../../src/domain/incoming.ts';
import { watchFolder } from '../../../src/intake/doors/folder/folder-door.ts';
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
  ['of a device', '/dev/null', /it is no folder; `plumbline ingest` reads files/],
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
