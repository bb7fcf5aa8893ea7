import { setTimeout as sleep } from 'node:timers/promises';
import { startInboxWorker } from '../../src/intake/inbox/worker.ts';
import type { Parser } from '../../src/intake/parser/parser.ts';
import { localParser } from '../../src/intake/parser/parser.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { NOW } from './intake.ts';

type Given = Parameters<typeof startInboxWorker>[0];

/** A parser in this process: what is tested is not where mails are parsed. */
export const asProcess = (parser: Parser) => ({
  pid: undefined,
  parse: parser.parse,
  check: localParser.check,
  kill: () => undefined,
  close: async () => undefined,
});

export function aWorker(db: Db, given: Partial<Given> = {}) {
  const errors: unknown[] = [];
  const stored: string[] = [];
  const worker = startInboxWorker({
    db,
    now: () => new Date(NOW),
    parser: asProcess(localParser),
    afterStored: async (read) => void stored.push(...read.stored),
    logError: (error) => errors.push(error),
    pollMs: 5,
    restMs: 5,
    ...given,
  });
  return { ...worker, errors, stored };
}

/** Works until no mail waits or is claimed. */
export async function workAll(db: Db, given: Partial<Given> = {}) {
  const worker = aWorker(db, given);
  try {
    while ((await countUnread(db)) > 0) await sleep(5);
  } finally {
    await worker.stop();
  }
  return worker;
}

async function countUnread(db: Db): Promise<number> {
  const rows = await db
    .selectFrom('inbox_mail')
    .select('seq')
    .where('state', '=', 'waiting')
    .execute();
  return rows.length;
}
