import type { Selectable } from 'kysely';
import type { Db, Tx } from '../engine/database.ts';
import { prepareRows, type RowOf } from '../engine/many-rows.ts';
import { isOfValues } from '../engine/open.ts';
import { runAllPrepared } from '../engine/prepared.ts';
import type { Tables } from '../tables.ts';
import { type NewPart, partInserts } from './parts.ts';
import { takeTurns } from './turns.ts';

/* A commit waits for the disk, and costs more than storing a mail: mails that wait at the same time share one. */

/** The bounds of one transaction: mails, and bytes of their last parts. */
const GROUP_MAILS = 64;
const GROUP_BYTES = 1024 * 1024;
/** Longer than a client takes from the answer to a mail to the end of the next, and than the files of a group differ. */
const GATHER_MS = 5;
const MAX_GATHERED = 32;

const COLUMNS = [
  'id',
  'door',
  'envelope',
  'received_at',
  'byte_count',
  'sha256',
  'account_id',
  'key_sha256',
  'sender',
] as const;

type NewMail = Pick<Selectable<Tables['inbox_mail']>, (typeof COLUMNS)[number]>;

/** A mail of which all parts but the last are stored. */
export interface CompleteMail {
  readonly mail: NewMail;
  readonly last: NewPart;
  /** Its statements have run: it may be committed, although no answer says so. */
  mayBeStored: boolean;
}

type Waiting = PromiseWithResolvers<boolean> & { readonly complete: CompleteMail };

/**
 * Inserts a mail's row and its last part; false when its key is in the inbox already. Mails that come while a transaction runs
 * are stored together by the next one. Before it begins, a transaction waits until none has come for a moment, or until as many
 * wait as are expected: those that are being received; or those that the transaction before stored, whose senders now send
 * their next mails, with those that have waited for its end.
 */
export function createInsertion(
  db: Db,
  countComing: () => number,
): (complete: CompleteMail) => Promise<boolean> {
  const waiting: Waiting[] = [];
  let isRunning = false;
  let expected = 1;
  let look = () => {};
  const isGathered = () =>
    waiting.length >= Math.min(MAX_GATHERED, Math.max(expected, countComing()));
  const gather = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      look = () => {
        timer.refresh();
        if (!isGathered()) return;
        clearTimeout(timer);
        look = () => {};
        resolve();
      };
      look();
    });
  const run = async () => {
    isRunning = true;
    while (waiting.length > 0) {
      if (!isGathered()) await gather();
      expected = (await insertGroup(db, () => takeGroup(waiting))) + waiting.length;
    }
    isRunning = false;
  };
  return (complete) => {
    const inserted = Promise.withResolvers<boolean>();
    waiting.push({ complete, ...inserted });
    if (isRunning) look();
    else void run();
    return inserted.promise;
  };
}

function takeGroup(waiting: Waiting[]): Waiting[] {
  let bytes = 0;
  const isOver = ({ complete: { last } }: Waiting) => {
    bytes += last.content.length;
    return bytes > GROUP_BYTES;
  };
  const over = waiting.slice(0, GROUP_MAILS).findIndex(isOver);
  return waiting.splice(0, over === -1 ? GROUP_MAILS : Math.max(1, over));
}

/** The group is taken when the transaction has begun: it may have waited for others. Returns how many it had. */
async function insertGroup(db: Db, take: () => Waiting[]): Promise<number> {
  let group: Waiting[] | undefined;
  try {
    const inserted = await db.write(async (tx) => {
      group ??= take();
      return await insertMails(
        tx,
        group.map(({ complete }) => complete),
      );
    });
    for (const { complete, resolve } of group ?? []) resolve(inserted.has(complete));
  } catch (error) {
    group ??= take();
    // The others are not to blame for the values of one.
    const isOfOne = group.length > 1 && isOfValues(error);
    for (const one of group)
      if (isOfOne) await insertGroup(db, () => [one]);
      else one.reject(error);
  }
  return group?.length ?? 0;
}

async function insertMails(tx: Tx, all: readonly CompleteMail[]) {
  for (const complete of all) complete.mayBeStored = false;
  const mails = await takeTurns(
    tx,
    all.map(({ mail }) => mail),
  );
  // Others who insert the same keys wait for this transaction: in one order, nobody waits for one who waits.
  const rows = mails.sort(byKey);
  const ids = new Set((await runAllPrepared(tx, mailInserts(rows))).flat().map(({ id }) => id));
  const added = all.filter(({ mail }) => ids.has(mail.id));
  await runAllPrepared(tx, partInserts(added.map(({ last }) => last)));
  for (const complete of added) complete.mayBeStored = true;
  return new Set(added);
}

type DueMail = NewMail & Readonly<{ due_at: string; turn: number }>;

function byKey({ key_sha256: a }: DueMail, { key_sha256: b }: DueMail): number {
  return Buffer.compare(a ?? Buffer.of(), b ?? Buffer.of());
}

const mailInserts = prepareRows(
  [...COLUMNS, 'due_at', 'turn'],
  (db, rows: readonly RowOf<DueMail>[]) =>
    db
      .insertInto('inbox_mail')
      .values(rows.map((row) => ({ ...row, state: 'waiting' })))
      .onConflict((oc) => oc.column('key_sha256').where('key_sha256', 'is not', null).doNothing())
      .returning('id'),
);
