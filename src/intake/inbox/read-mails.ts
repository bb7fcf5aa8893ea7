import { type Envelope, parseEnvelope } from '../../domain/incoming.ts';
import type { Db } from '../../store/engine/database.ts';
import type { ClaimedMail } from '../../store/inbox/claims.ts';
import { readMailContent, readSmall } from '../../store/inbox/parts.ts';
import type { Done } from '../../store/inbox/results.ts';
import type { DocumentSender } from '../../store/reports/senders.ts';
import { type IngestDeps, type IngestedDocument, type InputToRead, ingest } from '../ingest.ts';
import type { VerifyMails } from '../verification/verifier.ts';
import { isFirstTry, MailReading, toInputName } from './mail-reading.ts';

export interface ReadMailsDeps extends IngestDeps {
  /** Without it no mail is verified: nothing is known of its sender, as of a file's. */
  readonly verify?: VerifyMails | undefined;
  /** Is told of each document when it is stored. */
  readonly observe?: ((mail: ClaimedMail, document: IngestedDocument) => void) | undefined;
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
  /** Mails whose senders DNS could not say. They were not begun. */
  readonly unverified: readonly ClaimedMail[];
  /** Domains that have new reports, by their names. */
  readonly stored: ReadonlySet<string>;
  /** Names that came for each account by its own address, and that no account may have. */
  readonly unclaimed: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Stores the reports of mails as `plumbline ingest` does. Never throws: the mails before an error are done. */
export async function readMails(
  { verify, signal, observe, ...deps }: ReadMailsDeps,
  mails: readonly ClaimedMail[],
): Promise<ReadMails> {
  const readings = new Map(mails.map((mail) => [toInputName(mail), new MailReading(mail)]));
  const unverified: ClaimedMail[] = [];
  const { db, now } = deps;
  let failed: { readonly error: unknown } | undefined;
  try {
    const { loaded, fault } = await loadMails(db, mails);
    failed = fault;
    const inputs: InputToRead[] = [];
    for (const { mail, input } of await verifyMails(loaded, { now, verify })) {
      if (input !== undefined) inputs.push({ name: input.name, read: async () => input });
      else if (readings.delete(toInputName(mail))) unverified.push(mail);
    }
    for await (const document of ingest(deps, untilAborted(inputs, signal)))
      note(readings, document, observe);
    for (const reading of readings.values()) reading.end();
  } catch (error) {
    // The mail took longer to read than a process may take to stop: it is given back.
    if (!signal?.aborted) failed = { error };
  }
  return { ...sumUp([...readings.values()]), unverified, ...failed };
}

/**
 * All bytes are in memory before the first mail is read: a fault of the database is not a fault of a mail. A mail
 * whose bytes are not there is left out. The first fault is returned.
 */
async function loadMails(db: Db, mails: readonly ClaimedMail[]) {
  const loaded: { readonly mail: ClaimedMail; readonly bytes: Uint8Array }[] = [];
  let fault: { readonly error: unknown } | undefined;
  const small = await readSmall(db, mails);
  for (const mail of mails) {
    try {
      loaded.push({ mail, bytes: small.get(mail.id) ?? (await readMailContent(db, mail)) });
    } catch (error) {
      fault ??= { error };
    }
  }
  return { loaded, fault };
}

/** How long DNS may have no answer for a mail. Then nothing says who sent it. */
const MAX_UNANSWERED_MS = 30 * 60_000;

/** Without an input, a mail is verified another time. */
async function verifyMails(
  loaded: Awaited<ReturnType<typeof loadMails>>['loaded'],
  { now, verify }: Pick<ReadMailsDeps, 'now' | 'verify'>,
) {
  const sent = loaded.map(({ mail, bytes }) => {
    const { received_at: receivedAt, sha256 } = mail;
    const envelope = parseEnvelope(mail.envelope);
    const isBrief = isFirstTry(mail);
    const isFile = envelope.kind === 'file';
    return { mail, bytes, envelope, receivedAt, sha256, name: toInputName(mail), isBrief, isFile };
  });
  const isToVerify = ({ mail, isFile }: (typeof sent)[number]) => !isFile && mail.door !== 'upload';
  const verdicts = (await verify?.(sent.filter(isToVerify)))?.values();
  return sent.map(({ mail, envelope, receivedAt, isFile, ...base }) => {
    if (isFile) return { mail, input: { ...base, isMail: false } };
    if (mail.door === 'upload')
      return { mail, input: { ...base, isMail: true, sender: toSender(mail, envelope) } };
    const verdict = verdicts?.next().value;
    const isDecided = now().getTime() - Date.parse(receivedAt) > MAX_UNANSWERED_MS;
    if (verdict && verdict.from === undefined && !isDecided) return { mail, input: undefined };
    return { mail, input: { ...base, isMail: true, verdict } };
  });
}

/** The reporter of an upload is not known, so it is in nobody's name. */
function toSender({ account_id }: ClaimedMail, { isTrusted }: Envelope): DocumentSender {
  return isTrusted ? { uploadedBy: account_id ?? '' } : { authenticated: '' };
}

async function* untilAborted(inputs: readonly InputToRead[], signal?: AbortSignal) {
  for (const input of inputs) {
    if (signal?.aborted) return;
    yield input;
  }
}

/** Documents come input after input: with the first of an input, all of the inputs before it are stored. */
function note(
  readings: ReadonlyMap<string, MailReading>,
  document: IngestedDocument,
  observe: ReadMailsDeps['observe'],
): void {
  for (const [name, reading] of readings) {
    if (name === document.input) {
      reading.add(document);
      observe?.(reading.mail, document);
      return;
    }
    reading.end();
  }
}

function sumUp(readings: readonly MailReading[]): Omit<ReadMails, 'error' | 'unverified'> {
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
