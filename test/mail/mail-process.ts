/**
 * A process with all doors and a worker, until it is killed: `fork`ed with its `MailProcessOptions` as JSON. It
 * loads its modules, and opens the store when it is told to begin.
 */
import { flushCompileCache } from 'node:module';
import type { Deliver, DoorName } from '../../src/domain/incoming.ts';
import { watchFolder } from '../../src/intake/doors/folder/folder-door.ts';
import { readMailbox } from '../../src/intake/doors/imap/imap.ts';
import type { ImapOptions } from '../../src/intake/doors/imap/options.ts';
import { startSmtp } from '../../src/intake/doors/smtp/smtp.ts';
import { startInboxWorker } from '../../src/intake/inbox/worker.ts';
import { localParser } from '../../src/intake/parser/parser.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { createDeliver } from '../../src/store/inbox/deliver.ts';
import { findCheckpoint, noteDoor, updateCheckpoint } from '../../src/store/inbox/doors.ts';
import { findResults } from '../../src/store/inbox/mails.ts';

export interface MailProcessOptions {
  readonly database: string;
  readonly smtp: { readonly port: number; readonly address: string };
  readonly imap: ImapOptions;
  /** The paths of folders and Maildirs to watch. */
  readonly watched: readonly string[];
}

const now = () => new Date('2026-03-15T04:00:00Z');
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} } as never;

const { database, smtp, imap, watched }: MailProcessOptions = JSON.parse(process.argv[2] ?? '');
process.on('disconnect', () => process.exit());
process.once('message', async () => {
  const { db } = await openStore(database, { mustExist: true });
  const worker = startWorker(db);
  const deliver = createDeliver(db);
  const given = {
    deliver: async (incoming: Parameters<Deliver>[0]) => {
      await deliver(incoming);
      worker.wake();
    },
    ...{ now, log },
  };
  const ofDoors = { ...given, ...toDoorState(db) };
  void readMailbox(imap, ofDoors, new AbortController().signal);
  for (const path of watched)
    watchFolder({ ...ofDoors, path, done: 'move', warn: () => undefined, pollMs: 200 });
  await startSmtp(
    {
      port: smtp.port,
      host: '127.0.0.1',
      name: 'mx.plumbline.example',
      recipients: [smtp.address],
    },
    { ...given, findAccountByToken: async () => undefined },
  );
  process.send?.('open');
});
// A process that is killed keeps no compiled code for the next one by itself.
flushCompileCache();
process.send?.('loaded');

function startWorker(db: Db) {
  return startInboxWorker({
    ...{ db, now },
    // Read in this process, so that one signal ends all of the worker.
    parser: {
      pid: undefined,
      parse: localParser.parse,
      check: localParser.check,
      kill: () => undefined,
      close: async () => undefined,
    },
    afterStored: async () => undefined,
    // The store refuses at times.
    logError: () => undefined,
    claimMs: 1_000,
    pollMs: 20,
    restMs: 20,
  });
}

const toDoorState = (db: Db) => ({
  findResults: (keys: readonly string[]) => findResults(db, keys),
  noteDoor: (door: DoorName, error?: string) => noteDoor(db, door, error),
  findCheckpoint: (door: DoorName) => findCheckpoint(db, door),
  updateCheckpoint: (door: DoorName, text: string) => updateCheckpoint(db, door, text),
});
