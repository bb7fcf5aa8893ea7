import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { SENDER_FAILING } from '../domain/alerts/sender-failing.ts';
import { type KnownRecord, toHeld } from '../domain/dns/held-policy.ts';
import { createFaults } from '../domain/dns/sender-record-texts.ts';
import type { DomainFacts } from '../domain/domain-facts.ts';
import {
  addDays,
  type Day,
  type DayRange,
  daysBetween,
  toDay,
  toInstant,
} from '../domain/instant.ts';
import { findNextStep, type NextStep, rankOf } from '../domain/next-step.ts';
import { addUp, type DayCounts, failedOf } from '../domain/pass-rate.ts';
import { WINDOW_DAYS } from '../domain/readiness.ts';
import type { View } from '../domain/reports/authentication.ts';
import { findTarget } from '../domain/target-policy.ts';
import { dailyCheckOf, toSenderRecords } from '../store/alerts/daily-checks.ts';
import type { Aside } from '../store/days/believed.ts';
import { toOpenAlerts } from '../store/domains/overview.ts';
import {
  accountVersion,
  type KnownDomains,
  readDaysOf,
  readWorklist,
  type Worklist,
} from '../store/domains/worklist.ts';
import type { Reader } from '../store/engine/reader.ts';
import type { DomainOfAccount } from '../store/lists/heads.ts';
import { findKnown, type JudgeDeps } from './judged.ts';
import { keep } from './kept.ts';
import { type OwnMail, readOwnMail } from './sender-mail.ts';

/* What there is to do for domains. Pages, mails and the API ask it here, so that they agree. */

export interface WorkItem {
  readonly id: string;
  readonly name: string;
  /** Another one whenever its days change, or what they are judged by. */
  readonly version: string;
  /** Another one whenever its alerts change. */
  readonly alertsVersion: string;
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

/** `settled` are the facts of the step, of the domain's own month. */
export interface SettledItem extends ShownItem {
  readonly settled: DomainFacts;
}

export interface Work extends Pick<Worklist, 'range' | 'alerts'> {
  /** The account's. */
  readonly version: string;
  /** What needs a person first comes first. */
  readonly items: readonly WorkItem[];
}

interface KeptWork {
  readonly version: string;
  /** How many domains there are. */
  readonly count: number;
  readonly domains: KnownDomains;
  readonly work: Promise<Work>;
}

const keptWork = keep<KeptWork>({ name: 'work', toBytes: ({ count }) => 2_000 * (1 + count) });

/** The work of all active domains of an account. It is kept while the account has the same version. */
export async function findWork(reader: Reader, { accountId, now }: WorkQuery): Promise<Work> {
  const [account] = await reader.readAll(accountVersion({ accountId }));
  const { version = '', domains: count = 0 } = account ?? {};
  const today = toDay(toInstant(now));
  const former = keptWork.find(reader, accountId);
  if (former?.version === `${version} ${today}`) return await former.work;
  // Whoever asks for a newer version while this one is read has a map of its own: it would take older sums from this one.
  const domains = new Map(former?.domains);
  const read = readWorklist(reader, { accountId, today, days: WINDOW_DAYS }, domains);
  const work = read.then(async (found) => ({ ...(await toWork(found, today)), version }));
  keptWork.set(reader, accountId, { version: `${version} ${today}`, count, domains, work });
  work.catch(() => keptWork.delete(reader, accountId));
  return await work;
}

type WorkQuery = { readonly accountId: string; readonly now: Date };

/** A domain, active or paused; undefined when the account has none with the id. Its range ends with its own newest day. */
export async function settleDomain(
  deps: JudgeDeps,
  { accountId, domainId, now }: DomainOfAccount & { readonly now: Date },
) {
  const today = toDay(toInstant(now));
  const query = { accountId, today, days: WINDOW_DAYS, domainId };
  const { items, range } = await toWork(await readWorklist(deps.reader, query), today);
  const [shown] = await showDays(deps.reader, items, range);
  if (shown === undefined) return undefined;
  const { own, ...item } = await judge(deps, accountId, shown);
  return { ...item, ...own, range };
}

/** Steps that are found before the event loop runs. */
const STEPS_AT_ONCE = 1_000;

async function toWork({ range, states, sums, alerts }: Worklist, today: Day) {
  const sumsById = new Map(sums.map((sum) => [sum.domain_id, sum]));
  const open = Map.groupBy(alerts, ({ domain_id }) => domain_id);
  const items: WorkItem[] = [];
  for (const state of states) {
    const { id, name, version, reporters, last_report_at: lastReportAt } = state;
    const { status, oldest, newest, alerts_version: alertsVersion } = state;
    const sum = sumsById.get(id) ?? NO_SUM;
    const { record, statedOn, dns } = findRecord(state);
    const facts = {
      ...{ status, sendsNoMail: Boolean(state.sends_no_mail), today, oldest, newest },
      ...{ record, dns },
      dataDays: Number(sum.dataDays),
      counts: { messages: sum.messages, aligned: sum.aligned },
      before: { messages: sum.messagesBefore, aligned: sum.alignedBefore },
      openAlerts: toOpenAlerts(open.get(id) ?? []),
      isUnproven: reporters === 'all' && sum.unproven > 0,
    };
    const { asideReports: reports, asideMessages: messages, unproven } = sum;
    const aside = { reports, messages, unproven };
    const step = findNextStep(facts);
    const versions = { version, alertsVersion };
    items.push({ id, name, ...versions, reporters, aside, lastReportAt, statedOn, facts, step });
    if (items.length % STEPS_AT_ONCE === 0) await yieldToOthers();
  }
  return { range, alerts, items: items.sort(byRank) };
}

const NO_SUM = {
  ...{ messages: 0, aligned: 0, messagesBefore: 0, alignedBefore: 0, dataDays: 0 },
  ...{ asideReports: 0, asideMessages: 0, unproven: 0 },
};

/** What DNS checks have confirmed, else what reports state. */
function findRecord({ dmarc, policy, statedOn }: Worklist['states'][number]) {
  const dns: KnownRecord | undefined = JSON.parse(dmarc ?? '{}').confirmed ?? undefined;
  if (dns !== undefined) return { record: toHeld(dns), statedOn: undefined, dns };
  return { record: policy ?? undefined, statedOn: statedOn ?? undefined, dns };
}

interface WorkOfPage {
  readonly accountId: string;
  readonly range: DayRange;
  /** Few: each may take a millisecond or two. */
  readonly items: readonly WorkItem[];
  /** Whether readiness is told as well, which depends on senders whatever the step is. */
  readonly needsMail?: boolean;
}

/** Gives each domain that is shown the next step that its own page tells. Whose mail it is, is asked where the answer depends on it. */
export async function settleWork(
  deps: JudgeDeps,
  { accountId, range, items, needsMail = false }: WorkOfPage,
): Promise<SettledItem[]> {
  const settled: SettledItem[] = [];
  for (const item of await showDays(deps.reader, items, range)) {
    const facts = countOwn(item);
    if (needsMail || dependsOnSenders(facts)) settled.push(await judge(deps, accountId, item));
    else {
      const step = await nameFault(deps, item.id, findNextStep(facts));
      settled.push({ ...item, settled: facts, step });
    }
  }
  return settled;
}

async function showDays(reader: Reader, items: readonly WorkItem[], range: DayRange) {
  const days = await readDaysOf(reader, items, (item) => toShownDays(range, item));
  return items.map((item): ShownItem => ({ ...item, days: days.get(item.id) ?? [] }));
}

/** Days of the range, and those that the step depends on: the domain's own last months, however long ago. */
function toShownDays({ from, to }: DayRange, { facts: { newest } }: WorkItem): DayRange {
  const last = newest ?? to;
  const first = addDays(toStepWindow(last).from, -WINDOW_DAYS);
  return { from: first < from ? first : from, to: last > to ? last : to };
}

async function judge(deps: JudgeDeps, accountId: string, item: ShownItem) {
  const facts = countOwn(item);
  const own = await keepOwnMail(deps, { accountId, item, facts });
  const settled = { ...facts, mail: own.mail, marked: own.marked };
  const step = await nameFault(deps, item.id, findNextStep(settled));
  return { ...item, settled, own, step };
}

/** A step about a key, or about an SPF record that cannot be read, has what checks of DNS found of these. */
async function nameFault({ reader }: JudgeDeps, domainId: string, step: NextStep) {
  const suspect = findSuspect(step);
  if (suspect === undefined) return step;
  const [row] = await reader.readAll(dailyCheckOf({ domainId, type: 'senders' }));
  const fault = createFaults(toSenderRecords(row))(suspect.name, suspect.service);
  if (step.kind !== 'failing') return { ...step, fault };
  return { ...step, sender: step.sender && { ...step.sender, fault } };
}

/** The name that DNS may have wrong, and who signs with its key. */
function findSuspect(step: NextStep) {
  if (step.kind === 'alert') {
    const { signature } = step.cause ?? {};
    return signature && { name: signature, service: signature.service };
  }
  if (step.kind !== 'failing' || step.sender === undefined) return undefined;
  const { broken, latest, service } = step.sender;
  const spf = latest.cause?.seen.spf;
  const isUnread = spf?.result === 'permerror';
  const name = broken ?? (isUnread ? { domain: spf.domain, selector: null } : undefined);
  return name && { name, service: service?.name };
}

interface JudgedItem {
  readonly accountId: string;
  readonly item: WorkItem;
  readonly facts: DomainFacts;
}

const keptMail = keep<{ readonly version: string; readonly own: OwnMail }>({
  name: 'mail',
  toBytes: ({ own: { senders, results } }) =>
    2_000 + 1_500 * senders.length + 150 * (results.signatures.length + results.reporters.length),
});

/** It is kept while nothing changes by which a domain is judged: before `p=reject` it takes 100 ms of a domain with 5,000 addresses. */
async function keepOwnMail(deps: JudgeDeps, { accountId, item, facts }: JudgedItem) {
  const { id, name, reporters } = item;
  const { counts: all } = facts;
  const newest = facts.newest ?? facts.today;
  const oldest = facts.oldest ?? facts.today;
  const isForReject = findTarget(facts) === 'reject';
  const known = await findKnown(deps);
  const asked = facts.openAlerts.flatMap(({ sources }) => sources ?? []);
  const version = [item.version, reporters, newest, isForReject, ...known, ...asked].join();
  const kept = keptMail.find(deps.reader, id);
  if (kept?.version === version) return kept.own;
  const scope = { accountId, domainId: id };
  const query = { scope, name, range: toStepWindow(newest), oldest, all, isForReject, asked };
  const own = await readOwnMail(deps, query);
  keptMail.set(deps.reader, id, { version, own });
  await yieldToOthers();
  return own;
}

/** Steps that are told whoever sent. */
const EARLY: ReadonlySet<NextStep['kind']> = new Set([
  ...(['resume', 'one_record', 'first_reports', 'alert', 'lock', 'sends_after_all'] as const),
  ...(['silent', 'publish_record'] as const),
]);

function dependsOnSenders(facts: DomainFacts): boolean {
  const step = findNextStep(facts);
  if (step.kind !== 'alert') return !EARLY.has(step.kind);
  return step.type === SENDER_FAILING || step.sources !== undefined;
}

/** The days that the next step depends on: a month that ends with the newest day that has data. */
function toStepWindow(newest: Day): DayRange {
  return { from: addDays(newest, 1 - WINDOW_DAYS), to: newest };
}

/** All messages of the own month, and of as many days before. */
function countOwn({ facts, days }: ShownItem): DomainFacts {
  const { from, to } = toStepWindow(facts.newest ?? facts.today);
  const latest = days.filter(({ day }) => day >= from && day <= to);
  const first = addDays(from, -WINDOW_DAYS);
  const counts = addUp(latest);
  const before = addUp(days.filter(({ day }) => day >= first && day < from));
  return {
    ...facts,
    counts,
    before,
    dataDays: latest.filter(({ messages }) => messages > 0).length,
    gap: findGap(days),
  };
}

/** The most days between two that have reports. */
function findGap(days: readonly DayCounts[]): number {
  const sorted = days.map(({ day }) => day).sort();
  const gaps = sorted.slice(1).map((day, i) => daysBetween(sorted[i] as Day, day));
  return Math.max(1, ...gaps);
}

type Ranked = Pick<WorkItem, 'name' | 'facts' | 'step'>;

export function byRank(a: Ranked, b: Ranked): number {
  const failures = failedOf(b.facts.counts) - failedOf(a.facts.counts);
  return rankOf(a.step) - rankOf(b.step) || failures || byName(a, b);
}

export const byName = (a: Pick<WorkItem, 'name'>, b: Pick<WorkItem, 'name'>) =>
  a.name < b.name ? -1 : 1;
