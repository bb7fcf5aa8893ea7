import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { addUp, type DayCounts, failedOf } from '../../domain/alerts/rate.ts';
import { addDays, type Day, type DayRange, toDay, toInstant } from '../../domain/instant.ts';
import { findNextStep, type NextStep, rankOf } from '../../domain/next-step.ts';
import { type DomainFacts, WINDOW_DAYS } from '../../domain/readiness.ts';
import type { View } from '../../domain/reports/authentication.ts';
import { ACCOUNT_VERSION } from '../days/believed.ts';
import { type JudgeDeps, readOwnMail } from '../days/judged.ts';
import type { Aside } from '../days/summed-range.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import type { Reader } from '../engine/reader.ts';
import type { DomainOfAccount } from '../lists/heads.ts';
import { toOpenAlerts } from './overview.ts';
import { type KnownDomains, readDaysOf, readWorklist, type Worklist } from './worklist.ts';

/* What there is to do for domains. Pages, mails and the API ask it here, so that they agree. */

export interface WorkItem {
  readonly id: string;
  readonly name: string;
  /** Whose reports count, and what does not. */
  readonly reporters: View;
  readonly aside: Aside;
  readonly lastReportAt: string | null;
  /** The day of the reports that state the policy; undefined when it is of DNS, or not known. */
  readonly statedOn: Day | undefined;
  /** They count all mail of the range: whose it is, is asked for domains that are shown. */
  readonly facts: DomainFacts;
  readonly step: NextStep;
}

export interface ShownItem extends WorkItem {
  /** The days of the range are among them. */
  readonly days: readonly DayCounts[];
}

export interface Work extends Pick<Worklist, 'range' | 'alerts'> {
  /** What needs a person first comes first. */
  readonly items: readonly WorkItem[];
}

interface WorkQuery {
  readonly accountId: string;
  readonly now: Date;
}

interface Kept {
  readonly version: string;
  readonly domains: KnownDomains;
  readonly work: Promise<Work>;
}

/** Domains of all accounts whose work is kept. Each takes some 2 kB. */
const MAX_KEPT = 100_000;

const keptWork = new WeakMap<Reader, LRUCache<string, Kept>>();

/** The work of all active domains of an account. It is kept while the account has the same version. */
export async function findWork(
  reader: Reader,
  { accountId, now }: WorkQuery,
): Promise<Work & { readonly version: string }> {
  const [account] = await reader.readAll(accountVersion({ accountId }));
  const today = toDay(toInstant(now));
  const own = account?.version ?? '';
  const version = `${own} ${today}`;
  const kept = keptWork.get(reader) ?? new LRUCache<string, Kept>({ maxSize: MAX_KEPT });
  keptWork.set(reader, kept);
  const former = kept.get(accountId);
  if (former?.version === version) return { ...(await former.work), version: own };
  const domains = former?.domains ?? new Map();
  const read = readWorklist(reader, { accountId, today, days: WINDOW_DAYS }, domains);
  const work = read.then((found) => toWork(found, today));
  kept.set(accountId, { version, domains, work }, { size: 1 + (account?.domains ?? 0) });
  work.catch(() => kept.delete(accountId));
  return { ...(await work), version: own };
}

/** Another version whenever something changes of what an account's work is found by, but the day. */
export const accountVersion = prepareQuery((db, param: Param<{ accountId: string }>) =>
  db
    .selectFrom('account')
    .select('domains_total as domains')
    .select(ACCOUNT_VERSION.as('version'))
    .where('id', '=', param('accountId')),
);

/** A domain, active or paused; undefined when the account has none with the id. Its range ends with its own newest day. */
export async function findWorkOf(
  reader: Reader,
  { accountId, domainId, now }: DomainOfAccount & { readonly now: Date },
) {
  const today = toDay(toInstant(now));
  const read = await readWorklist(reader, { accountId, today, days: WINDOW_DAYS, domainId });
  const { items, range } = await toWork(read, today);
  return items[0] && { item: items[0], range, alerts: read.alerts };
}

/** Steps that are found before the event loop runs. */
const STEPS_AT_ONCE = 1_000;

async function toWork(read: Worklist, today: Day): Promise<Work> {
  const describe = createDescriber(read, today);
  const items: WorkItem[] = [];
  for (const state of read.states) {
    const { id, name, reporters, last_report_at: lastReportAt } = state;
    const described = describe(state);
    const step = findNextStep(described.facts);
    items.push({ id, name, reporters, lastReportAt, ...described, step });
    if (items.length % STEPS_AT_ONCE === 0) await yieldToOthers();
  }
  return { range: read.range, alerts: read.alerts, items: items.sort(byRank) };
}

function createDescriber({ sums, alerts }: Worklist, today: Day) {
  const sumsById = new Map(sums.map((sum) => [sum.domain_id, sum]));
  const open = Map.groupBy(alerts, ({ domain_id }) => domain_id);
  return (state: Worklist['states'][number]): Pick<WorkItem, 'facts' | 'aside' | 'statedOn'> => {
    const { id, status, sends_no_mail, oldest, newest } = state;
    const sum = sumsById.get(id) ?? NO_SUM;
    const { record, statedOn } = findRecord(state);
    const facts = {
      ...{ status, sendsNoMail: Boolean(sends_no_mail), today, oldest, newest, record },
      dataDays: Number(sum.dataDays),
      counts: { messages: sum.messages, aligned: sum.aligned },
      before: { messages: sum.messagesBefore, aligned: sum.alignedBefore },
      openAlerts: toOpenAlerts(open.get(id) ?? []),
    };
    const { asideReports: reports, asideMessages: messages, unproven } = sum;
    return { facts, aside: { reports, messages, unproven }, statedOn };
  };
}

const NO_SUM = {
  ...{ messages: 0, aligned: 0, messagesBefore: 0, alignedBefore: 0, dataDays: 0 },
  ...{ asideReports: 0, asideMessages: 0, unproven: 0 },
};

/** What DNS checks have confirmed, else what reports state. */
function findRecord({ dmarc, policy, statedOn }: Worklist['states'][number]) {
  const found = dmarc === null ? undefined : JSON.parse(dmarc).confirmed?.value;
  if (found !== undefined) return { record: found as string | null, statedOn: undefined };
  return { record: policy ?? undefined, statedOn: statedOn ?? undefined };
}

interface WorkOfPage {
  readonly accountId: string;
  readonly range: DayRange;
  /** Few: each may take a millisecond or two. */
  readonly items: readonly WorkItem[];
  /** Whether readiness is told as well, which depends on senders whatever the step is. */
  readonly isWhole?: boolean;
}

/** Gives each domain that is shown the next step that its own page tells. */
export async function settleWork(deps: JudgeDeps, { items, ...of }: WorkOfPage) {
  const days = await readDaysOf(deps.reader, items, (item) => toShownDays(of.range, item));
  const settled: (ShownItem & { readonly settled: DomainFacts })[] = [];
  for (const item of items) {
    const shown = { ...item, days: days.get(item.id) ?? [] };
    const facts = await settleFacts(deps, of, shown);
    settled.push({ ...shown, settled: facts, step: findNextStep(facts) });
    await yieldToOthers();
  }
  return settled;
}

/** Days of the range, and those that the step depends on: the domain's own last months, however long ago. */
function toShownDays({ from, to }: DayRange, { facts: { newest } }: WorkItem): DayRange {
  const last = newest ?? to;
  const first = addDays(toStepWindow(last).from, -WINDOW_DAYS);
  return { from: first < from ? first : from, to: last > to ? last : to };
}

/** Whose mail it is, is asked only where the answer depends on it. */
async function settleFacts(
  deps: JudgeDeps,
  { accountId, isWhole = false }: Omit<WorkOfPage, 'items'>,
  { id, name, days, facts: known }: ShownItem,
): Promise<DomainFacts> {
  const { newest, oldest } = known;
  if (newest === null || oldest === null) return known;
  const range = toStepWindow(newest);
  const facts = { ...known, ...countWindow(days, range) };
  if (!isWhole && !dependsOnSenders(facts)) return facts;
  const scope = { accountId, domainId: id };
  const query = { scope, name, range, oldest, all: facts.counts };
  const { mail } = await readOwnMail(deps, query);
  return { ...facts, mail };
}

/** Steps that are told whoever sent. */
const EARLY: ReadonlySet<NextStep['kind']> = new Set([
  ...(['resume', 'one_record', 'first_reports', 'alert', 'lock', 'sends_after_all'] as const),
  ...(['silent', 'publish_record'] as const),
]);

function dependsOnSenders(facts: DomainFacts): boolean {
  const { kind } = findNextStep(facts);
  return !EARLY.has(kind) && (kind === 'wait' || failedOf(facts.counts) > 0);
}

/** The days that the next step depends on: a month that ends with the newest day that has data. */
export function toStepWindow(newest: Day): DayRange {
  return { from: addDays(newest, 1 - WINDOW_DAYS), to: newest };
}

/** All messages of these days, and of as many before. */
export function countWindow(days: readonly DayCounts[], { from, to }: DayRange) {
  const listDays = (first: Day, last: Day) => days.filter(({ day }) => day >= first && day <= last);
  const latest = listDays(from, to);
  return {
    counts: addUp(latest),
    before: addUp(listDays(addDays(from, -WINDOW_DAYS), addDays(from, -1))),
    dataDays: latest.filter(({ messages }) => messages > 0).length,
  };
}

type Ranked = Pick<WorkItem, 'name' | 'facts' | 'step'>;

export function byRank(a: Ranked, b: Ranked): number {
  const failures = failedOf(b.facts.counts) - failedOf(a.facts.counts);
  return rankOf(a.step) - rankOf(b.step) || failures || byName(a, b);
}

export const byName = (a: Pick<WorkItem, 'name'>, b: Pick<WorkItem, 'name'>) =>
  a.name < b.name ? -1 : 1;
