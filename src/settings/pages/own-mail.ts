import { addUp, type Counts } from '../../domain/alerts/rate.ts';
import { addDays, type Day, type DayRange } from '../../domain/instant.ts';
import { type DomainFacts, WINDOW_DAYS } from '../../domain/next-step.ts';
import {
  findStrangers,
  type JudgedSource,
  judgeMail,
  type MailByStanding,
  sumByStanding,
  toOwnCounts,
} from '../../domain/readiness.ts';
import type { SourceSum } from '../../store/days/summed-range.ts';
import type { DomainOfAccount } from '../../store/lists/heads.ts';
import type { SettingsDeps } from '../deps.ts';
import type { ChartDay } from '../frame/charts/columns.ts';
import { loadSenders } from './sources/service-groups.ts';
import { MAX_JUDGED } from './sources/stopped-senders.ts';

/*
 * Whose the mail of a domain's last month is. The overview and the domain's page ask it here, so that both tell the same
 * next step (decision 125).
 */

interface JudgedQuery {
  readonly scope: DomainOfAccount;
  readonly name: string;
  readonly window: DayRange;
  /** Addresses that are to be named, too. */
  readonly more?: readonly string[];
}

export type OwnDeps = Pick<SettingsDeps, 'store' | 'networks' | 'days'>;

/** `all` counts the messages of the window. */
export async function readOwnMail(deps: OwnDeps, query: JudgedQuery & { readonly all: Counts }) {
  const judged = await judgeSources(deps, query);
  const { stopped, others, toJudged } = judged;
  const mail = judgeMail([sumByStanding(stopped.failing.map(toJudged)), others], query.all);
  return { ...judged, mail };
}

/**
 * The list of sources asks this, too, so that a source has one standing. `others` is what sources sent that nobody judges.
 * `toGroup` groups the failing sources and `more`; it is undefined when there are none.
 */
export async function judgeSources(deps: OwnDeps, { scope, name, window, more = [] }: JudgedQuery) {
  const stopped = await deps.days.readMail({ scope, range: window, limit: MAX_JUDGED });
  const { failing, others, marks } = stopped;
  const named = [...failing.map(({ address }) => address), ...more];
  const query = { domain: { id: scope.domainId, name }, range: window, marks };
  const toGroup = named.length > 0 ? (await loadSenders(deps, query, named)).toGroup : undefined;
  const judged = new Set(failing.map(({ address }) => address));
  const toJudged = ({ address, messages, aligned }: SourceSum): JudgedSource => {
    const verdict = judged.has(address) ? toGroup?.(address).verdict : undefined;
    return { messages, aligned, mark: marks.get(address)?.mark, verdict };
  };
  return { stopped, others, toGroup, toJudged };
}

/** The days that the next step depends on: a month that ends with the newest day that has data. */
export function toStepWindow(newest: Day): DayRange {
  return { from: addDays(newest, 1 - WINDOW_DAYS), to: newest };
}

/** All messages of these days, and of as many before. */
export function countWindow(days: readonly ChartDay[], { from, to }: DayRange) {
  const listDays = (first: Day, last: Day) => days.filter(({ day }) => day >= first && day <= last);
  const latest = listDays(from, to);
  return {
    counts: addUp(latest),
    before: addUp(listDays(addDays(from, -WINDOW_DAYS), addDays(from, -1))),
    dataDays: latest.filter(({ messages }) => messages > 0).length,
  };
}

/** The facts of the next step, of which `counts` are of all mail, when it is known whose it is. */
export function toOwnFacts(facts: DomainFacts, mail: MailByStanding): DomainFacts {
  const { counts } = facts;
  return { ...facts, counts: toOwnCounts(counts, mail), strangers: findStrangers(counts, mail) };
}
