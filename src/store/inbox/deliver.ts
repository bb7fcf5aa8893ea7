import { createHash, randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import { toSizeText } from '../../domain/size.ts';
import type { Db, Tx } from '../engine/database.ts';
import type { Tables } from '../tables.ts';
import { readNow } from '../work/clock.ts';
import { hashKey, type Incoming, MAX_INCOMING_BYTES, toEnvelopeText } from './incoming.ts';
import { deleteParts, insertPart, toParts } from './parts.ts';

/**
 * Does what `Deliver` says. A mail's row is inserted with its last part, so a mail that did not come in to its end is
 * not in the inbox, whatever ended it. `tidyInbox` deletes its parts.
 */
export async function deliver(db: Db, incoming: Incoming): Promise<void> {
  const storing = new Storing(db);
  try {
    const digest = createHash('sha256');
    for await (const content of toParts(incoming.bytes)) {
      digest.update(content);
      await storing.add(content);
    }
    await storing.end(incoming, digest.digest('hex'));
  } catch (error) {
    // The caller gets the first error.
    await storing.undo().catch(() => undefined);
    throw error;
  }
}

class Storing {
  readonly #db: Db;
  readonly #id = randomUUID();
  /** The part that is not stored yet: it may be the last one. */
  #held: Uint8Array | undefined;
  #stored = 0;
  #bytes = 0;
  /** The statements of the mail's row have run: it may be committed, although no answer says so. */
  #mayBeMail = false;

  constructor(db: Db) {
    this.#db = db;
  }

  async add(content: Uint8Array): Promise<void> {
    this.#bytes += content.length;
    if (this.#bytes > MAX_INCOMING_BYTES)
      throw new Failure(
        'limit_reached',
        `A mail may have at most ${toSizeText(MAX_INCOMING_BYTES)}.`,
      );
    const before = this.#held;
    this.#held = content;
    if (before === undefined) return;
    const part = await this.#toPart(before);
    await orUnavailable(this.#db.write((tx) => insertPart(tx, part)));
    this.#stored += 1;
  }

  async end(incoming: Incoming, sha256: string): Promise<void> {
    const part = await this.#toPart(this.#held ?? new Uint8Array());
    const mail = { ...toMail(incoming), id: this.#id, byte_count: this.#bytes, sha256 };
    const isNew = await orUnavailable(
      this.#db.write(async (tx) => {
        this.#mayBeMail = false;
        const isNew = await insertMail(tx, { ...mail, due_at: part.stored_at }, part);
        this.#mayBeMail = isNew;
        return isNew;
      }),
    );
    if (!isNew) await this.undo();
  }

  /** A commit whose answer was lost may end later. Parts of such a mail are left to `tidyInbox` on the next day. */
  async undo(): Promise<void> {
    if (this.#stored > 0 && !this.#mayBeMail) await deleteParts(this.#db, this.#id);
  }

  async #toPart(content: Uint8Array): Promise<Tables['inbox_part']> {
    const stored_at = await orUnavailable(readNow(this.#db));
    return { mail_id: this.#id, part: this.#stored, stored_at, content };
  }
}

function toMail({ door, envelope, receivedAt, accountId, key }: Incoming) {
  return {
    door,
    envelope: toEnvelopeText(envelope),
    received_at: receivedAt,
    account_id: accountId ?? null,
    key_sha256: key === undefined ? null : hashKey(key),
    state: 'waiting' as const,
  };
}

type NewMail = Insertable<Tables['inbox_mail']>;

/** Whether the mail is new: one with its key may be in the inbox already. */
async function insertMail(tx: Tx, mail: NewMail, last: Tables['inbox_part']): Promise<boolean> {
  const inserted = await tx
    .insertInto('inbox_mail')
    .values(mail)
    .onConflict((oc) => oc.column('key_sha256').doNothing())
    .returning('seq')
    .executeTakeFirst();
  if (inserted === undefined) return false;
  await insertPart(tx, last);
  const { parts } = await tx
    .selectFrom('inbox_part')
    .select((eb) => eb.fn.countAll<number>().as('parts'))
    .where('mail_id', '=', mail.id)
    .executeTakeFirstOrThrow();
  // Its first parts may have been deleted as those of a mail that never came in to its end.
  if (parts !== last.part + 1)
    throw new Failure('unavailable', 'The mail took too long to come in.');
  return true;
}

/** A door needs to know only that the mail is not stored. */
async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Failure) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure('unavailable', `The mail could not be stored: ${why}`, { cause: error });
  }
}
