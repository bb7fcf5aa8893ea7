import { type Day, type Instant, later } from '../../domain/instant.ts';
import type { Subscription } from '../../domain/mail-choice.ts';
import type { Store } from '../../store/engine/store.ts';
import type { Notice } from '../../store/events/notices.ts';
import type { DueDelivery } from '../../store/notify/claims.ts';
import { insertMailedLink, LINK_MS } from '../../store/people/passwords.ts';
import type { PersonMail } from '../../store/people/person-mail.ts';
import type { Letter } from './letter.ts';
import {
  toChangeLetter,
  toDeletionLetter,
  toKeysLetter,
  toLinkLetter,
  toReporterLetter,
  toWebhookLetter,
} from './person-letters.ts';
import { type DomainWeek, type DomainWork, toSummaryLetter } from './summary-letter.ts';
import { readWeek } from './week.ts';

export interface LetterDeps {
  readonly store: Store;
  readonly baseUrl: string;
  readonly now: () => Instant;
  /** The first active domains of an account, and how many it has: what needs a person first comes first. */
  readonly listWork: (
    accountId: string,
    limit: number,
  ) => Promise<{ readonly domains: readonly DomainWork[]; readonly total: number }>;
}

/** A letter, and what its mail needs besides. */
export interface Sending {
  readonly letter: Letter;
  readonly id: string;
  readonly inReplyTo?: string;
  /** What the mail's link ends. */
  readonly subscription?: Subscription;
}

/** The mail for an event that is no alert, or for several keys; undefined when there is nothing to say any more. */
export async function findSending(
  deps: LetterDeps,
  person: PersonMail,
  [due, ...more]: readonly [DueDelivery, ...DueDelivery[]],
): Promise<Sending | undefined> {
  const { baseUrl } = deps;
  if (due.type === 'key.created') {
    const notices = [due, ...more].map(({ data, at }) => ({ ...parseNotice(data), at }));
    const letter = toKeysLetter(notices, { baseUrl, account: person.accountName });
    return { letter, id: `${due.id}.${[due, ...more].length}.${person.personId}` };
  }
  const isSummary = due.type === 'summary.due';
  const letter = await (isSummary ? findSummary : findNotice)(deps, person, due);
  const id = `${due.id}.${person.personId}`;
  return letter && { letter, id, ...(isSummary && { subscription: 'summary' }) };
}

/** Domains of a summary; an account can have thousands. */
const MAX_DOMAINS = 25;

async function findSummary(
  { store, baseUrl, listWork }: LetterDeps,
  { accountId, accountName: account, hasSummary }: PersonMail,
  { data }: DueDelivery,
): Promise<Letter | undefined> {
  if (!hasSummary) return undefined;
  const { monday } = JSON.parse(data) as { monday: Day };
  const work = await listWork(accountId, MAX_DOMAINS);
  const domains: DomainWeek[] = [];
  for (const domain of work.domains)
    domains.push({ ...domain, ...(await readWeek(store, { domainId: domain.id, monday })) });
  return toSummaryLetter({ domains, total: work.total, monday }, { baseUrl, account });
}

async function findNotice(
  { store, baseUrl, now }: LetterDeps,
  { accountName: account, personId }: PersonMail,
  { type, data, at }: DueDelivery,
): Promise<Letter | undefined> {
  const frame = { baseUrl, account, at };
  if (type === 'webhook.disabled') return toWebhookLetter(JSON.parse(data), frame);
  const notice = parseNotice(data);
  if (type === 'reporter.new') return toReporterLetter(notice, frame);
  if (type === 'account.deletion') return toDeletionLetter(notice, frame);
  if (type !== 'person.changed') return undefined;
  if (!LINKS.has(notice.action)) return toChangeLetter(notice, frame);
  // A link that comes later than the one that was shown ends would surprise.
  const isLate = now() > later(at, LINK_MS);
  const token = isLate ? undefined : await insertMailedLink(store.db, personId, now());
  return token === undefined ? undefined : toLinkLetter(notice, token, frame);
}

const LINKS: ReadonlySet<Notice['action']> = new Set(['person_invited', 'person_link_made']);

/** Whether it is a mail that somebody waits for. */
export function hasLink({ type, data }: DueDelivery): boolean {
  return type === 'person.changed' && LINKS.has(parseNotice(data).action);
}

const parseNotice = (data: string): Notice => JSON.parse(data);
