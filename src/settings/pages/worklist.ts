import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { type DayCounts, failedOf, toDrop, toPassRate } from '../../domain/alerts/rate.ts';
import { toPolicies } from '../../domain/dns/dns-record.ts';
import { addDays, type Day, type DayRange, toDay, toInstant } from '../../domain/instant.ts';
import { findNextStep, type NextStep, rankOf } from '../../domain/next-step.ts';
import { type DomainFacts, WINDOW_DAYS } from '../../domain/readiness.ts';
import type { Sort } from '../../domain/sort.ts';
import { findUnicode } from '../../domain/text.ts';
import { readOwnMail } from '../../store/days/judged.ts';
import { toOpenAlerts } from '../../store/domains/overview.ts';
import { readDaysOf, readWorklist, type Worklist } from '../../store/domains/worklist.ts';
import type { Reader } from '../../store/engine/reader.ts';
import type { Believed } from './aside-view.ts';
import { countWindow, type OwnDeps, toJudgeDeps, toStepWindow } from './own-mail.ts';

export interface WorkItem extends Pick<Worklist['states'][number], 'id' | 'name'>, Believed {
  readonly lastReportAt: string | null;
  /** They count all mail of the range: whose it is, is asked for domains that are shown. */
  readonly facts: DomainFacts;
  readonly step: NextStep;
}

export interface ShownItem extends WorkItem {
  /** The days of the range are among them. */
  readonly days: readonly DayCounts[];
}

export interface Work extends Pick<Worklist, 'range' | 'alerts' | 'proposals'> {
  /** What needs a person first comes first. */
  readonly items: readonly WorkItem[];
}

export async function findWork(
  reader: Reader,
  { accountId, now }: { readonly accountId: string; readonly now: Date },
): Promise<Work> {
  const today = toDay(toInstant(now));
  const read = await readWorklist(reader, { accountId, today, days: WINDOW_DAYS });
  const describe = createDescriber(read, today);
  const items = read.states.map((state) => {
    const { id, name, reporters, last_report_at: lastReportAt } = state;
    const { facts, aside } = describe(state);
    return { id, name, reporters, aside, lastReportAt, facts, step: findNextStep(facts) };
  });
  return { ...read, items: items.sort(byRank) };
}

function createDescriber({ sums, records, alerts }: Worklist, today: Day) {
  const sumsById = new Map(sums.map((sum) => [sum.domain_id, sum]));
  const confirmed = new Map(
    records.map(({ domain_id, state }) => [domain_id, JSON.parse(state).confirmed?.value]),
  );
  const open = Map.groupBy(alerts, ({ domain_id }) => domain_id);
  return (state: Worklist['states'][number]): Pick<WorkItem, 'facts' | 'aside'> => {
    const { id, status, sends_no_mail, oldest, newest, policy } = state;
    const sum = sumsById.get(id);
    const { messagesBefore: messages = 0, alignedBefore: aligned = 0, dataDays = 0 } = sum ?? {};
    const found = confirmed.get(id);
    const { asideReports = 0, asideMessages = 0, unproven = 0 } = sum ?? {};
    const facts = {
      status,
      sendsNoMail: Boolean(sends_no_mail),
      today,
      oldest,
      newest,
      dataDays: Number(dataDays),
      counts: { messages: sum?.messages ?? 0, aligned: sum?.aligned ?? 0 },
      before: { messages, aligned },
      record: found === undefined ? (policy ?? undefined) : found,
      openAlerts: toOpenAlerts(open.get(id) ?? []),
    };
    return { facts, aside: { reports: asideReports, messages: asideMessages, unproven } };
  };
}

interface WorkOfPage {
  readonly accountId: string;
  readonly range: DayRange;
  /** Few: each may take a millisecond or two. */
  readonly items: readonly WorkItem[];
}

/** Gives each domain that is shown the next step that its own page tells. */
export async function settleWork(deps: OwnDeps, { accountId, range, items }: WorkOfPage) {
  const days = await readDaysOf(deps.store.reader, items, (item) => toShownDays(range, item));
  const settled: ShownItem[] = [];
  for (const item of items) {
    const shown = { ...item, days: days.get(item.id) ?? [] };
    settled.push({ ...shown, step: findNextStep(await settleFacts(deps, accountId, shown)) });
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

/** Whose mail it is, is asked only where the step depends on it. */
async function settleFacts(deps: OwnDeps, accountId: string, item: ShownItem) {
  const { id, name, days } = item;
  const { newest, oldest } = item.facts;
  if (newest === null || oldest === null) return item.facts;
  const range = toStepWindow(newest);
  const facts = { ...item.facts, ...countWindow(days, range) };
  if (!dependsOnSenders(facts)) return facts;
  const scope = { accountId, domainId: id };
  const query = { scope, name, range, oldest, all: facts.counts };
  const { mail } = await readOwnMail(toJudgeDeps(deps), query);
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

export function byRank(a: WorkItem, b: WorkItem): number {
  const failures = failedOf(b.facts.counts) - failedOf(a.facts.counts);
  return rankOf(a.step) - rankOf(b.step) || failures || byName(a, b);
}

const byName = (a: WorkItem, b: WorkItem) => (a.name < b.name ? -1 : 1);

export const WORK_COLUMNS = ['name', 'messages', 'rate', 'change', 'policy'] as const;
export type WorkColumn = (typeof WORK_COLUMNS)[number];

const POLICIES = ['absent', 'none', 'quarantine', 'reject'];

/** Domains without a value come last in either order. */
const VALUES: Readonly<
  Record<Exclude<WorkColumn, 'name'>, (item: WorkItem) => number | undefined>
> = {
  messages: ({ facts: { counts } }) => counts.messages,
  rate: ({ facts: { counts } }) => (counts.messages === 0 ? undefined : toPassRate(counts)),
  change: ({ facts }) => toChange(facts),
  policy: ({ facts: { record } }) =>
    record === undefined ? undefined : POLICIES.indexOf(toPolicies(record).p),
};

/** The points that the pass rate rose by; undefined without messages before or now. */
export function toChange({ counts, before }: Pick<DomainFacts, 'counts' | 'before'>) {
  if (counts.messages === 0 || before.messages === 0) return undefined;
  return toDrop(counts, before);
}

export function sortWork(items: readonly WorkItem[], { column, order }: Sort<WorkColumn>) {
  const sign = order === 'asc' ? 1 : -1;
  if (column === 'name') return items.toSorted((a, b) => sign * byName(a, b));
  const toValue = VALUES[column];
  return items.toSorted((a, b) => {
    const [one, other] = [toValue(a), toValue(b)];
    if (one === undefined || other === undefined)
      return Number(one === undefined) - Number(other === undefined) || byName(a, b);
    return sign * (one - other) || byName(a, b);
  });
}

/** Names are searched in Unicode and as A-labels. */
export function searchWork(items: readonly WorkItem[], search: string): readonly WorkItem[] {
  const wanted = search.toLowerCase();
  return items.filter(({ name }) =>
    [name, findUnicode(name) ?? ''].some((text) => text.includes(wanted)),
  );
}
