import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createParserProcess } from '../../src/intake/parser/parser-process.ts';
import { startFolderDoor } from '../../src/jobs/doors.ts';
import { startInbox } from '../../src/jobs/inbox.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { listDoors, readInboxOverview } from '../../src/store/inbox/doors.ts';
import { createRoom } from '../../src/store/inbox/room.ts';
import { aBareAccount, aKey, NOW } from '../support/builders.ts';
import { aFolder } from '../support/command.ts';
import { aReportMail, aReportXml, listMailRows } from '../support/inbox.ts';
import { aProgram } from '../support/program.ts';
import { aDatabasePath, IS_POSTGRES } from '../support/store.ts';

const MIB = 1024 * 1024;

/** An installation whose disk has so much free space as the test says. */
async function anInstallation() {
  const disk = { free: 500 * MIB };
  const store = await openStore(aDatabasePath(), {
    minFreeBytes: 200 * MIB,
    measureFree: async () => disk.free,
  });
  onTestFinished(() => store.close());
  const watched = await aFolder();
  const config = readConfig({ PLUMBLINE_WATCH: watched });
  const deps = { store, log: pino({ level: 'silent' }), parser: createParserProcess() };
  const inbox = startInbox(config, deps);
  const door = startFolderDoor(watched, config.watchDone, { ...deps, deliver: inbox.deliver });
  onTestFinished(async () => {
    await door.stop();
    await inbox.stop();
  });
  const deliver = () =>
    inbox.deliver({ door: 'smtp', bytes: aReportMail(), envelope: {}, receivedAt: NOW });
  const results = async () => (await listMailRows(store.db)).map(({ result }) => result);
  return { disk, store, watched, deliver, results };
}

describe.skipIf(IS_POSTGRES)('a disk with too little free space', () => {
  test('makes doors refuse and say why, while keys are made, until there is room again', async () => {
    const { disk, store, watched, deliver, results } = await anInstallation();
    const { db } = store;
    await deliver();
    await expect.poll(results).toEqual(['processed']);
    disk.free = 100 * MIB;
    await expect.poll(() => db.findShortage()).toContain('has 100 MiB free');
    writeFileSync(join(watched, 'report.xml'), aReportXml());
    await expect(deliver()).rejects.toThrow(/PLUMBLINE_MIN_FREE_MB asks for 200 MiB/);
    expect(await createRoom(db)()).toContain('100 MiB free');
    await expect.poll(async () => (await listDoors(db)).length).toBe(1);
    expect((await listDoors(db))[0]?.fault).toContain('100 MiB free');
    expect((await readInboxOverview(db)).doors[0]?.failing).toBeDefined();
    await aKey(db, await aBareAccount(db));
    expect(await results()).toEqual(['processed']);
    disk.free = 500 * MIB;
    await expect.poll(results).toEqual(['processed', 'processed']);
  });

  test('ends plumbline ingest with a failure that says so', async () => {
    const program = aProgram({ PLUMBLINE_MIN_FREE_MB: '1000000' });
    const { status, stderr } = await program.run(['ingest', '-'], aReportXml());
    expect(status).toBe(1);
    expect(stderr).toMatch(/Nothing is taken in: the disk of the database has .* free/);
  });
});
