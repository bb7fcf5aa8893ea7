import { addUp, type Counts, toPassRate } from '../../domain/alerts/rate.ts';
import { toPolicies } from '../../domain/dns/dns-record.ts';
import { type Day, type DayRange, toDay, toInstant } from '../../domain/instant.ts';
import {
  type DomainFacts,
  findNextStep,
  isGood,
  type NextStep,
  rankOf,
  WINDOW_DAYS,
} from '../../domain/next-step.ts';
import { toOwnCounts } from '../../domain/readiness.ts';
import type { Sort } from '../../domain/sort.ts';
import { findUnicode } from '../../domain/text.ts';
import { findDay } from '../../store/accounts/overview.ts';
import { readWorklist, type Worklist } from '../../store/accounts/worklist.ts';
import type { Reader } from '../../store/engine/reader.ts';
import { readSources } from '../../store/sources/list.ts';

export interface WorkItem {
  readonly id: string;
  readonly name: string;
  readonly lastReportAt: string | null;
  readonly newest: Day | null;
  /** All messages of the range, and of the days before. */
  readonly counts: Counts;
  readonly before: Counts;
  /** As in the facts of the next step. */
  readonly record: DomainFacts['record'];
  readonly step: NextStep;
}

export interface Work extends Pick<Worklist, 'range' | 'alerts' | 'proposals'> {
  /** What needs a person first comes first. */
  readonly items: readonly WorkItem[];
}

/** How many domains with marked sources are looked at more closely: their days are read with their sources. */
const MAX_MARKED = 25;

export async function findWork(
  reader: Reader,
  { accountId, now }: { readonly accountId: string; readonly now: Date },
): Promise<Work> {
  const today = toDay(toInstant(now));
  const read = await readWorklist(reader, { accountId, today, days: WINDOW_DAYS });
  const facts = toFacts(read, today);
  for (const id of listDoubtful(read, facts).slice(0, MAX_MARKED)) {
    const of = facts.get(id) as DomainFacts;
    const forged = await countForged(reader, { accountId, domainId: id }, read.range);
    facts.set(id, { ...of, counts: toOwnCounts(of.counts, forged) });
  }
  const sums = new Map(read.sums.map((sum) => [sum.domain_id, sum]));
  const items = read.states.map(({ id, name, newest, last_report_at: lastReportAt }) => {
    const of = facts.get(id) as DomainFacts;
    const counts = toCounts(sums.get(id));
    const { before, record } = of;
    return {
      ...{ id, name, newest, lastReportAt, counts, before, record },
      step: findNextStep(of),
    };
  });
  return { ...read, items: items.sort(byRank) };
}

function toFacts({ states, sums, records, alerts }: Worklist, today: Day) {
  const sumsById = new Map(sums.map((sum) => [sum.domain_id, sum]));
  const confirmed = new Map(
    records.map(({ domain_id, state }) => [domain_id, JSON.parse(state).confirmed?.value]),
  );
  const open = Map.groupBy(alerts, ({ domain_id }) => domain_id);
  return new Map<string, DomainFacts>(
    states.map(({ id, status, oldest, newest, policy }) => {
      const sum = sumsById.get(id);
      const { messagesBefore: messages = 0, alignedBefore: aligned = 0, dataDays = 0 } = sum ?? {};
      const found = confirmed.get(id);
      const facts = {
        ...{ status, today, oldest, newest, dataDays: Number(dataDays), counts: toCounts(sum) },
        before: { messages, aligned },
        record: found === undefined ? (policy ?? undefined) : found,
        openAlerts: (open.get(id) ?? []).map(({ type, context }) => ({
          ...{ type, day: findDay(context) },
        })),
      };
      return [id, facts];
    }),
  );
}

const toCounts = ({ messages, aligned }: Counts = { messages: 0, aligned: 0 }): Counts => ({
  ...{ messages, aligned },
});

/** Those whose failures may be those of others, with most failures first. */
function listDoubtful({ marked }: Worklist, facts: ReadonlyMap<string, DomainFacts>): string[] {
  const failures = (id: string) => failedOf(facts.get(id)?.counts ?? { messages: 0, aligned: 0 });
  return marked
    .map(({ domain_id }) => domain_id)
    .filter((id) => !isGood(facts.get(id)?.counts ?? { messages: 0, aligned: 0 }))
    .sort((a, b) => failures(b) - failures(a));
}

async function countForged(
  reader: Reader,
  scope: { readonly accountId: string; readonly domainId: string },
  range: DayRange,
): Promise<Counts> {
  const wanted = { range, failingOnly: true, mark: 'unknown', limit: Infinity, offset: 0 } as const;
  return addUp((await readSources(reader, scope, wanted)).sources);
}

const failedOf = ({ messages, aligned }: Counts) => messages - aligned;

function byRank(a: WorkItem, b: WorkItem): number {
  return rankOf(a.step) - rankOf(b.step) || failedOf(b.counts) - failedOf(a.counts) || byName(a, b);
}

const byName = (a: WorkItem, b: WorkItem) => (a.name < b.name ? -1 : 1);

export const WORK_COLUMNS = ['name', 'messages', 'rate', 'change', 'policy'] as const;
export type WorkColumn = (typeof WORK_COLUMNS)[number];

const POLICIES = ['absent', 'none', 'quarantine', 'reject'];

/** Domains without a value come last in either order. */
const VALUES: Readonly<
  Record<Exclude<WorkColumn, 'name'>, (item: WorkItem) => number | undefined>
> = {
  messages: ({ counts }) => counts.messages,
  rate: ({ counts }) => (counts.messages === 0 ? undefined : toPassRate(counts)),
  change: toChange,
  policy: ({ record }) =>
    record === undefined ? undefined : POLICIES.indexOf(toPolicies(record).p),
};

/** By how many points the pass rate rose; undefined without messages before or now. */
export function toChange({ counts, before }: Pick<WorkItem, 'counts' | 'before'>) {
  if (counts.messages === 0 || before.messages === 0) return undefined;
  return Math.round((toPassRate(counts) - toPassRate(before)) * 100) / 100;
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

/** In Unicode and as A-labels. */
export function searchWork(items: readonly WorkItem[], search: string): readonly WorkItem[] {
  const wanted = search.toLowerCase();
  return items.filter(({ name }) =>
    [name, findUnicode(name) ?? ''].some((text) => text.includes(wanted)),
  );
}
