import type { Db } from '../../store/engine/database.ts';
import type { ClaimedMail } from '../../store/inbox/claims.ts';
import { parseEnvelope } from '../../store/inbox/incoming.ts';
import { readContent, readSmall } from '../../store/inbox/parts.ts';
import type { Done } from '../../store/inbox/results.ts';
import { type IngestedDocument, type InputToRead, ingest } from '../ingest.ts';
import type { Parser } from '../parser/parser.ts';
import { isFirstTry, MailReading, toInputName } from './mail-reading.ts';

interface ReadMailsDeps {
  readonly db: Db;
  readonly now: () => Date;
  readonly parser: Parser;
  /** No mail is begun after it is aborted. */
  readonly signal?: AbortSignal;
}

export interface ReadMails {
  readonly done: readonly Done[];
  /** Mails that were not read to their end, because of `error` or because the reading was stopped. */
  readonly unread: readonly ClaimedMail[];
  /** Costly mails, which are read to their end when it is their turn again. */
  readonly postponed: readonly ClaimedMail[];
  readonly error?: unknown;
  /** Domains that have new reports, by their names. */
  readonly stored: ReadonlySet<string>;
  /** Names that came for each account by its own address, and that no account may have. */
  readonly unclaimed: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Stores the reports of mails as `plumbline ingest` does. Never throws: the mails before an error are done. */
export async function readMails(
  { db, now, parser, signal }: ReadMailsDeps,
  mails: readonly ClaimedMail[],
): Promise<ReadMails> {
  const readings = new Map(mails.map((mail) => [toInputName(mail), new MailReading(mail)]));
  const deps = { db, now, parser };
  let failed: { readonly error: unknown } | undefined;
  try {
    const { inputs, fault } = await loadInputs(db, mails);
    failed = fault;
    for await (const document of ingest(deps, untilAborted(inputs, signal)))
      note(readings, document);
    for (const reading of readings.values()) {
      reading.end();
      if (reading.fault !== undefined) failed ??= { error: reading.fault };
    }
  } catch (error) {
    failed = { error };
  }
  return { ...sumUp([...readings.values()]), ...failed };
}

interface Loaded {
  readonly inputs: readonly InputToRead[];
  /** The first one. */
  readonly fault: { readonly error: unknown } | undefined;
}

/**
 * All bytes are in memory before the first mail is read: a fault of the database is not a fault of a mail. A mail
 * whose bytes are not there is left out.
 */
async function loadInputs(db: Db, mails: readonly ClaimedMail[]): Promise<Loaded> {
  const inputs: InputToRead[] = [];
  let fault: Loaded['fault'];
  const small = await readSmall(db, mails);
  for (const mail of mails) {
    try {
      const name = toInputName(mail);
      const bytes = small.get(mail.id) ?? (await readContent(db, mail));
      const isMail = parseEnvelope(mail.envelope).kind !== 'file';
      const known = { name, bytes, sha256: mail.sha256, isMail, isBrief: isFirstTry(mail) };
      inputs.push({ name, read: async () => known });
    } catch (error) {
      fault ??= { error };
    }
  }
  return { inputs, fault };
}

async function* untilAborted(
  inputs: readonly InputToRead[],
  signal?: AbortSignal,
): AsyncGenerator<InputToRead> {
  for (const input of inputs) {
    if (signal?.aborted) return;
    yield input;
  }
}

/** Documents come input after input: with the first of an input, all of the inputs before it are stored. */
function note(readings: ReadonlyMap<string, MailReading>, document: IngestedDocument): void {
  for (const [name, reading] of readings) {
    if (name === document.input) {
      reading.add(document);
      return;
    }
    reading.end();
  }
}

function sumUp(readings: readonly MailReading[]): Omit<ReadMails, 'error'> {
  const unclaimed = new Map<string, Set<string>>();
  const stored = new Set<string>();
  for (const { mail, names } of readings) {
    for (const name of names.stored) stored.add(name);
    if (mail.account_id === null || names.unclaimed.size === 0) continue;
    const known = unclaimed.get(mail.account_id) ?? new Set();
    unclaimed.set(mail.account_id, known.union(names.unclaimed));
  }
  return {
    done: readings.filter(({ isDone }) => isDone).map((reading) => reading.toDone()),
    unread: readings
      .filter(({ isDone, isPostponed }) => !isDone && !isPostponed)
      .map(({ mail }) => mail),
    postponed: readings.filter(({ isPostponed }) => isPostponed).map(({ mail }) => mail),
    stored,
    unclaimed,
  };
}
