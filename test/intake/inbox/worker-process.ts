/** A worker of its own on a database file, until it is killed: `node worker-process.ts <database>`. */
import { startInboxWorker } from '../../../src/intake/inbox/worker.ts';
import { localParser } from '../../../src/intake/parser/parser.ts';
import { openStore } from '../../../src/store/engine/open.ts';

const { db } = await openStore(process.argv[2] ?? '', { mustExist: true });

startInboxWorker({
  db,
  now: () => new Date('2026-08-01T00:00:00Z'),
  // Read in this process, so that one signal ends all of the worker.
  parser: {
    pid: undefined,
    parse: localParser.parse,
    check: localParser.check,
    kill: () => undefined,
    close: async () => undefined,
  },
  afterStored: async () => undefined,
  logError: (error) => void process.stderr.write(`${error}\n`),
  claimMs: 2_000,
  pollMs: 20,
  restMs: 20,
});
