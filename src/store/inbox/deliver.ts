import { createHash } from 'node:crypto';
import { Failure } from '../../domain/failure.ts';
import {
  type Deliver,
  hashKey,
  type Incoming,
  MAX_INCOMING_BYTES,
  toEnvelopeText,
} from '../../domain/incoming.ts';
import { toMailNetwork } from '../../domain/mail-sender.ts';
import { toSizeText } from '../../domain/size.ts';
import { type Db, requireSpace } from '../engine/database.ts';
import { runAllPrepared } from '../engine/prepared.ts';
import { readClockMs } from '../work/clock.ts';
import { type CompleteMail, createInsertion } from './insertion.ts';
import { createMailId, deleteParts, freePart, partInserts, toParts } from './parts.ts';

/**
 * A mail's row is inserted with its last part, so a mail that did not come in to its end is not in the inbox, whatever
 * ended it. `tidyInbox` deletes its parts. Mails that are delivered at the same time are stored in one transaction.
 */
export function createDeliver(db: Db): Deliver {
  let coming = 0;
  const insert = createInsertion(db, () => coming);
  return async (incoming) => {
    await requireSpace(db);
    const storing = new Storing(db, insert);
    coming += 1;
    try {
      let sender: string | undefined;
      for await (const content of toParts(incoming.bytes)) {
        sender ??= toSender(incoming, content);
        await storing.add(content);
      }
      await storing.end({ ...toMail(incoming), sender: sender ?? '' });
    } catch (error) {
      // The caller gets the first error.
      await storing.undo().catch(() => undefined);
      throw error;
    } finally {
      coming -= 1;
    }
  };
}

class Storing {
  readonly #db: Db;
  readonly #insert: ReturnType<typeof createInsertion>;
  /** Empty until the first part is stored. */
  #id = '';
  /** The digest of the parts before the one that is held. */
  readonly #digest = createHash('sha256');
  /** The part that is not stored yet: it may be the last one. */
  #held: Uint8Array | undefined;
  #stored = 0;
  #bytes = 0;
  #complete: CompleteMail | undefined;

  constructor(db: Db, insert: ReturnType<typeof createInsertion>) {
    this.#db = db;
    this.#insert = insert;
  }

  async add(content: Uint8Array): Promise<void> {
    this.#bytes += content.length;
    const most = `A mail may have at most ${toSizeText(MAX_INCOMING_BYTES)}.`;
    if (this.#bytes > MAX_INCOMING_BYTES) throw new Failure('limit_reached', most);
    const before = this.#held;
    this.#held = content;
    if (before === undefined) return;
    this.#digest.update(before);
    await orUnavailable(
      this.#db.write(async (tx) => {
        // `tidyInbox` goes by the database's clock.
        this.#id ||= createMailId(await readClockMs(tx));
        await runAllPrepared(tx, partInserts([this.#toPart(before)]));
      }),
    );
    this.#stored += 1;
    freePart(before);
  }

  async end(received: Omit<CompleteMail['mail'], 'id' | 'byte_count' | 'sha256'>): Promise<void> {
    this.#id ||= createMailId(Date.now());
    const last = this.#toPart(this.#held ?? new Uint8Array());
    const sha256 = this.#digest.update(last.content).digest();
    const mail = { ...received, sha256, id: this.#id, byte_count: this.#bytes };
    this.#complete = { mail, last, mayBeStored: false };
    if (!(await orUnavailable(this.#insert(this.#complete)))) await this.undo();
  }

  /** A commit whose answer was lost may end later. Parts of such a mail are left to `tidyInbox` on the next day. */
  async undo(): Promise<void> {
    if (this.#stored > 0 && !this.#complete?.mayBeStored) await deleteParts(this.#db, this.#id);
  }

  #toPart(content: Uint8Array) {
    return { mail_id: this.#id, part: this.#stored, content };
  }
}

function toMail({ door, envelope, receivedAt, accountId, key }: Incoming) {
  return {
    door,
    envelope: toEnvelopeText(envelope),
    received_at: receivedAt,
    account_id: accountId ?? null,
    key_sha256: key === undefined ? null : hashKey(key),
  };
}

/** Who takes turns: a network, for each account. */
function toSender({ envelope, isRelayed, accountId }: Incoming, head: Uint8Array): string {
  const peer = isRelayed ? undefined : envelope.remoteAddress;
  return `${toMailNetwork(peer, head)} ${accountId ?? ''}`;
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
