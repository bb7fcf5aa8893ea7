import { toMailNetwork } from '../../domain/mail-sender.ts';
import type { Db, Queries } from '../engine/database.ts';
import type { NoteGone } from '../work/gone.ts';
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

type Space = { readonly mails: number; readonly bytes: number };

/**
 * Why there is no room for mails of a client; undefined while there is. A network may have as much of the room as it
 * leaves to others, so however many fill it, there is some left for one that has nothing there.
 */
export function createRoom(
  db: Db,
  { max = INBOX, measureMs = MEASURE_MS }: { max?: Space; measureMs?: number } = {},
): (address?: string) => Promise<string | undefined> {
  let [full, untilMs]: [ReadonlySet<string>, number] = [new Set(), 0];
  return async (address) => {
    if (performance.now() >= untilMs) {
      full = findFull(await measure(db, max.mails), max);
      untilMs = performance.now() + measureMs;
    }
    if (full.has(ANYBODY)) return 'the inbox is full until some are read';
    const network = address === undefined ? '' : toMailNetwork(address, NO_FIELDS);
    if (full.has(network)) return `the inbox has too many mails of ${network} until some are read`;
    return db.findShortage();
  };
}

const ANYBODY = '*';
const NO_FIELDS = new Uint8Array();

/** The networks that have as much as is free, and `ANYBODY` when nothing is. */
function findFull(stored: ReadonlyMap<string, Space>, max: Space): ReadonlySet<string> {
  const free = { ...max };
  for (const { mails, bytes } of stored.values()) {
    free.mails -= mails;
    free.bytes -= bytes;
  }
  const isFull = ({ mails, bytes }: Space) => mails >= free.mails || bytes >= free.bytes;
  const full = [...stored].filter(([network, space]) => network !== '' && isFull(space));
  return new Set([...full.map(([network]) => network), ...(isFull(NONE) ? [ANYBODY] : [])]);
}

const NONE = { mails: 0, bytes: 0 };

async function measure(db: Queries, maxMails: number): Promise<ReadonlyMap<string, Space>> {
  const stored = selectStored(db).select(['inbox_mail.sender', 'byte_count']).limit(maxMails);
  const rows = await db
    .selectFrom(stored.as('stored'))
    .select(({ fn }) => [
      'sender',
      fn.countAll<number>().as('mails'),
      fn.sum<number>('byte_count').as('bytes'),
    ])
    .groupBy('sender')
    .execute();
  const spaces = new Map<string, Space>();
  for (const { sender, mails, bytes } of rows) {
    const [network = ''] = sender.split(' ', 1);
    const known = spaces.get(network) ?? NONE;
    spaces.set(network, { mails: known.mails + mails, bytes: known.bytes + bytes });
  }
  return spaces;
}

/** The mails that still have bytes. Most have none: the cross join makes SQLite begin with the parts. */
function selectStored(db: Queries) {
  return db
    .selectFrom('inbox_part')
    .crossJoin('inbox_mail')
    .where('inbox_part.part', '=', 0)
    .whereRef('inbox_mail.id', '=', 'inbox_part.mail_id');
}

interface TrimKept {
  readonly mayGoOn: () => Promise<boolean>;
  readonly noteGone?: NoteGone;
  readonly max?: Space;
}

/**
 * Deletes the bytes of mails without a report, the oldest first, until the bound is kept. The rows stay. Returns whether it
 * came to the end.
 */
export async function trimKept(
  db: Db,
  { mayGoOn, noteGone, max = KEPT }: TrimKept,
): Promise<boolean> {
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
  for (const id of excess.reverse()) {
    if (!(await mayGoOn())) return false;
    if (await trim(db, id)) noteGone?.('mails', 1);
  }
  return true;
}

/** Deletes the bytes of a mail, unless an operator has had it read again since. */
async function trim(db: Db, id: string): Promise<boolean> {
  const done = db.selectFrom('inbox_mail').select('seq').where('state', '=', 'done');
  if ((await done.where('id', '=', id).executeTakeFirst()) === undefined) return false;
  await deleteParts(db, id);
  return true;
}
