import type { Db, Queries } from '../engine/database.ts';
import { deleteParts } from './parts.ts';

/*
 * Anybody can send mails to a public address, so what a door stores without asking the sender needs a bound. A mail
 * counts while its bytes are in the inbox.
 */

const GIB = 1024 * 1024 * 1024;
/** The bound of all mails. A mail with a report has about 5 kB. */
const INBOX = { mails: 100_000, bytes: 4 * GIB };
/** The bound of mails without a report, whose bytes are kept for a later parser. Smaller, to leave others room. */
const KEPT = { mails: 20_000, bytes: GIB };
const MEASURE_MS = 5_000;

interface Space {
  readonly mails: number;
  readonly bytes: number;
}

/** Why there is no room for mails from anybody; undefined while there is. */
export function createRoom(
  db: Db,
  { max = INBOX, measureMs = MEASURE_MS }: { max?: Space; measureMs?: number } = {},
): () => Promise<string | undefined> {
  let [hasRoom, untilMs] = [true, 0];
  return async () => {
    if (performance.now() >= untilMs) {
      const { mails, bytes } = await measure(db, max.mails);
      untilMs = performance.now() + measureMs;
      hasRoom = mails < max.mails && bytes < max.bytes;
    }
    return hasRoom ? db.findShortage() : 'the inbox is full until some are read';
  };
}

async function measure(db: Queries, maxMails: number): Promise<Space> {
  const stored = selectStored(db).select('inbox_mail.byte_count').limit(maxMails);
  const { mails, bytes } = await db
    .selectFrom(stored.as('stored'))
    .select(({ fn }) => [
      fn.countAll<number>().as('mails'),
      fn.sum<number | null>('byte_count').as('bytes'),
    ])
    .executeTakeFirstOrThrow();
  return { mails, bytes: bytes ?? 0 };
}

/** The mails that still have bytes. Most have none: the cross join makes SQLite begin with the parts. */
function selectStored(db: Queries) {
  return db
    .selectFrom('inbox_part')
    .crossJoin('inbox_mail')
    .where('inbox_part.part', '=', 0)
    .whereRef('inbox_mail.id', '=', 'inbox_part.mail_id');
}

/** Deletes the bytes of mails without a report, the oldest first, until the bound is kept. The rows stay. */
export async function trimKept(db: Db, max: Space = KEPT): Promise<void> {
  const kept = await selectStored(db)
    .select(['inbox_mail.id', 'inbox_mail.byte_count'])
    .where('inbox_mail.state', '=', 'done')
    .orderBy('inbox_mail.done_at', 'desc')
    .orderBy('inbox_mail.seq', 'desc')
    .limit(INBOX.mails)
    .execute();
  let [mails, bytes] = [0, 0];
  const excess: string[] = [];
  for (const { id, byte_count } of kept) {
    mails += 1;
    bytes += byte_count;
    if (mails > max.mails || bytes > max.bytes) excess.push(id);
  }
  for (const id of excess.reverse().slice(0, TRIMMED_AT_ONCE)) await trim(db, id);
}

/** No mail is read while bytes are deleted, so the rest is left to the next call. */
const TRIMMED_AT_ONCE = 2_000;

/** Deletes the bytes of a mail, unless an operator has had it read again since. */
async function trim(db: Db, id: string): Promise<void> {
  const mail = await db
    .selectFrom('inbox_mail')
    .select('seq')
    .where('id', '=', id)
    .where('state', '=', 'done')
    .executeTakeFirst();
  if (mail !== undefined) await deleteParts(db, id);
}
