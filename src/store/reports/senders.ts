import { DAY_MS, type Instant, later } from '../../domain/instant.ts';
import { DAYS_NEW, type Doubt, type MailProof } from '../../domain/reports/authentication.ts';
import { isKnownReporter } from '../../domain/reports/reporters.ts';
import type { Tx } from '../engine/database.ts';
import { insertAudit, plumbline } from '../events/audit.ts';
import { establishReporter } from './established.ts';

/** What is known of the mail that a document came in. */
export interface DocumentSender {
  /** The reporter as which its mail is authenticated; empty for none. Whether it is disputed, or of a new one, is found here. */
  readonly authenticated?: string | null | undefined;
  /** The reporters in whose name it is, whoever sent it. */
  readonly claimed?: readonly string[] | undefined;
  /** The account whose people uploaded it as a file: about domains that are not the account's it proves nothing. */
  readonly uploadedBy?: string | undefined;
}

/** The sender of a report about a domain, when an account has that. */
export interface SenderAbout extends DocumentSender {
  readonly about?: Owned | undefined;
}

export interface Owned {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
}

/**
 * Who authenticated once must go on: says which of the mails are in the name of a reporter that was authenticated, before or
 * among these, and are not of it; and which reporters are new. Each account knows its own: what one has seen is no word to
 * another. Returns what is stored of each. The domains are locked.
 */
export async function judgeReporters(
  tx: Tx,
  documents: readonly SenderAbout[],
  now: Instant,
): Promise<MailProof[]> {
  const known = await listKnown(tx, documents);
  for (const key of await insertReporters(tx, listNew(documents, known), now)) known.set(key, now);
  const judged = documents.map((document) => {
    return { authenticated: document.authenticated || null, doubt: toDoubt(document, known, now) };
  });
  const established = new Set<string>();
  for (const [i, { authenticated, about }] of documents.entries()) {
    if (!authenticated || judged[i]?.doubt !== null || isKnownReporter(authenticated)) continue;
    const key = `${about?.id} ${authenticated}`;
    if (about && !established.has(key)) await establishReporter(tx, about.id, authenticated);
    established.add(key);
  }
  return judged;
}

function toDoubt(document: SenderAbout, known: Reporters, now: Instant): Doubt | null {
  const { authenticated = null, uploadedBy, about } = document;
  if (uploadedBy !== undefined && about?.accountId !== uploadedBy) return 'unproven';
  if (authenticated === null) return null;
  if (isDisputed(document, known)) return 'disputed';
  if (authenticated === '') return 'unproven';
  return isNewReporter(document, known, now) ? 'new' : null;
}

/** When the reporters were authenticated first, by account and name. */
type Reporters = Map<string, Instant>;

/** A report about a domain that no account has is known to nobody. */
const toKey = ({ about }: SenderAbout, name: string): string => `${about?.accountId} ${name}`;

const listNames = ({ authenticated, claimed = [] }: DocumentSender): readonly string[] =>
  authenticated ? [authenticated, ...claimed] : claimed;

function isDisputed(document: SenderAbout, known: Reporters): boolean {
  const { authenticated, claimed = [] } = document;
  return claimed.some((name) => name !== authenticated && known.has(toKey(document, name)));
}

function isNewReporter(document: SenderAbout, known: Reporters, now: Instant): boolean {
  const { authenticated: name } = document;
  if (!name) return false;
  const first = known.get(toKey(document, name)) ?? now;
  return first > later(now, -DAYS_NEW * DAY_MS) && !isKnownReporter(name);
}

/** The reporters whose first report about a domain of an account is among these, in one order. */
function listNew(documents: readonly SenderAbout[], known: Reporters) {
  const found = new Map<string, { readonly name: string; readonly about: Owned }>();
  for (const document of documents) {
    const { authenticated: name, about } = document;
    const key = toKey(document, name ?? '');
    if (!name || about === undefined || known.has(key)) continue;
    if (!found.has(key) && !isDisputed(document, known)) found.set(key, { name, about });
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The two weeks of a reporter begin where the account's owners are told of it: nobody becomes established unseen. Returns the keys of all. */
async function insertReporters(
  tx: Tx,
  found: ReturnType<typeof listNew>,
  now: Instant,
): Promise<string[]> {
  if (found.length === 0) return [];
  const inserted = await tx
    .insertInto('reporter')
    .values(
      found.map(([, { name, about }]) => ({
        ...{ account_id: about.accountId, name, authenticated_at: now },
      })),
    )
    .onConflict((oc) => oc.columns(['account_id', 'name']).doNothing())
    .returning(['account_id', 'name'])
    .execute();
  const keys = new Set(inserted.map(({ account_id, name }) => `${account_id} ${name}`));
  for (const [key, { name: subject, about }] of found) {
    const { accountId, name: detail } = about;
    if (keys.has(key) && !isKnownReporter(subject))
      await insertAudit(tx, plumbline(now), {
        ...{ accountId, action: 'reporter_new', subject, detail },
        isQuiet: (await countToday(tx, accountId, now)) >= MAX_TOLD,
      });
  }
  return found.map(([key]) => key);
}

/** Anybody can be many reporters: of more in a day owners are told by the audit alone. */
const MAX_TOLD = 5;
/** The last entries of the audit, which are looked at for those of the day. */
const LOOKED_AT = 100;

async function countToday(tx: Tx, accountId: string, now: Instant): Promise<number> {
  const entries = tx
    .selectFrom('audit')
    .select(['action', 'at'])
    .where('account_id', '=', accountId);
  const last = await entries.orderBy('seq', 'desc').limit(LOOKED_AT).execute();
  const since = later(now, -DAY_MS);
  return last.filter(({ action, at }) => action === 'reporter_new' && at > since).length;
}

async function listKnown(tx: Tx, documents: readonly SenderAbout[]): Promise<Reporters> {
  const names = [...new Set(documents.flatMap(listNames))];
  const accounts = [...new Set(documents.flatMap(({ about }) => about?.accountId ?? []))];
  if (names.length === 0 || accounts.length === 0) return new Map();
  const rows = await tx
    .selectFrom('reporter')
    .selectAll()
    .where('account_id', 'in', accounts)
    .where('name', 'in', names)
    .execute();
  return new Map(rows.map((row) => [`${row.account_id} ${row.name}`, row.authenticated_at]));
}
