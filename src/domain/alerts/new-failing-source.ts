import type { Day } from '../instant.ts';
import type { Counts } from '../pass-rate.ts';
import { addSafely } from '../safe-sum.ts';
import { formatCount, pluralize } from '../text.ts';
import { type AlertContext, formatNumber } from './context.ts';
import type { CommonFacts } from './facts.ts';
import {
  type AlertRule,
  type Cause,
  isFresh,
  isWatched,
  listOfType,
  type Occurrence,
} from './rule.ts';
import type { Thresholds } from './thresholds.ts';

const TYPE = 'alert.new_failing_source';

interface Facts extends CommonFacts {
  /** Addresses that failed more than the thresholds allow, on days that may still fire or have fired. */
  readonly failingSources: readonly FailingSource[];
}

export interface FailingSource extends Counts {
  readonly day: Day;
  readonly address: string;
  /** The service that sent; null when no evidence names one, or the address is not new. */
  readonly service: string | null;
  /** Data days between its last message and this day, both excluded, up to what rules need; null if it sent none before. */
  readonly absentDays: number | null;
  /** Later days on which a new source sent too many failing messages. */
  readonly laterFailingDays: readonly Day[];
}

/** Addresses not seen before sent failing messages: a spoofer, or a service that was not set up for DMARC. */
export const newFailingSource: AlertRule<typeof TYPE, Facts> = {
  type: TYPE,
  findOccurrences: (facts, thresholds) =>
    findDays(facts, thresholds).map((day) => toOccurrence(day, facts, thresholds)),
  // A day that the rules do not look back on any more.
  findEnding: ({ subject }, { days }) =>
    subject < (days[0]?.day ?? '') ? 'new_normal' : undefined,
  explain: (facts, thresholds) => {
    const occurrences = newFailingSource.findOccurrences(facts, thresholds);
    const open = occurrences.filter(({ ending }) => ending === null);
    return [
      ...(open.length === 0 ? ['Not open.'] : open.map(explainOpen)),
      ...explainLatest(facts, thresholds),
    ];
  },
  title: 'New failing source',
  describe: describeSources,
  advice: 'Addresses that are new here send mail that fails: find out whether it is yours.',
  findCause,
  urgency: 1,
  link: 'sources',
  isLasting: false,
};

function findDays(facts: Facts, thresholds: Thresholds): Day[] {
  const fired = new Set(listOfType(facts, TYPE).map(({ subject }) => subject));
  const days = new Set(newSources(facts, thresholds).map(({ day }) => day));
  return [...days]
    .filter((day) => isWatched(day, facts.watchedSince))
    .filter((day) => fired.has(day) || (isFresh(day, facts, thresholds) && hasHistory(day, facts)))
    .sort();
}

function newSources({ failingSources }: Facts, { newSourceDays }: Thresholds): FailingSource[] {
  return failingSources.filter((source) => isNew(source, newSourceDays));
}

export function isNew({ absentDays }: Pick<FailingSource, 'absentDays'>, newSourceDays: number) {
  return absentDays === null || absentDays >= newSourceDays;
}

/** Every source would be new on a domain's first day with messages. */
function hasHistory(day: Day, { days }: Facts): boolean {
  return days.some((before) => before.day < day && before.messages > 0);
}

function toOccurrence(day: Day, facts: Facts, thresholds: Thresholds): Occurrence {
  const sources = newSources(facts, thresholds).filter((source) => source.day === day);
  const listed = sources
    .map(toListedSource)
    .sort((a, b) => b.failed_count - a.failed_count || (a.ip < b.ip ? -1 : 1));
  const sum = (key: 'message_count' | 'failed_count') =>
    listed.reduce((total, source) => addSafely(total, source[key]), 0);
  const context = {
    day,
    message_count: sum('message_count'),
    failed_count: sum('failed_count'),
    sources: listed.slice(0, thresholds.newSourcesListed),
    additional_sources: Math.max(0, listed.length - thresholds.newSourcesListed),
  };
  const isQuiet = isOver(day, { facts, sources }, thresholds);
  return { subject: day, ending: isQuiet ? 'recovered' : null, context };
}

/** Resolved for good once none of them has failed much for the required number of consecutive data days. */
function isOver(
  day: Day,
  { facts: { days }, sources }: { facts: Facts; sources: readonly FailingSource[] },
  { newSourceQuietDays }: Thresholds,
): boolean {
  const failing = new Set(sources.flatMap(({ laterFailingDays }) => laterFailingDays));
  let quiet = 0;
  for (const later of days) {
    if (later.day <= day) continue;
    quiet = failing.has(later.day) ? 0 : quiet + 1;
    if (quiet >= newSourceQuietDays) return true;
  }
  return false;
}

function toListedSource({ address, service, messages, aligned }: FailingSource) {
  return { ip: address, message_count: messages, failed_count: messages - aligned, service };
}

function explainOpen({ subject, context }: Occurrence): string {
  const { failed_count, message_count, sources, additional_sources } = context;
  const addresses = (sources as readonly { ip: string }[]).map(({ ip }) => ip).join(', ');
  const others = additional_sources === 0 ? '' : ` and ${additional_sources} more`;
  return `Open: on ${subject} ${failed_count} of ${message_count} messages from addresses not seen before failed: ${addresses}${others}.`;
}

function explainLatest({ days, failingSources }: Facts, t: Thresholds): string[] {
  const day = days.at(-1)?.day;
  if (day === undefined) return ['There are no reports yet.'];
  const failing = failingSources.filter((source) => source.day === day).length;
  return [
    `It fires when addresses not seen in the ${t.newSourceDays} data days before send at least ${t.newSourceMessages} messages each of which ${t.newSourceFailPercent} % fail. On ${day}, ${failing} ${failing === 1 ? 'address fails' : 'addresses fail'} so much, known ones included.`,
    `It resolves when none of them has sent ${t.newSourceMessages} failing messages a day for ${t.newSourceQuietDays} data days.`,
  ];
}

function describeSources(context: AlertContext): string {
  const more = Number(context['additional_sources'] ?? 0);
  const list = listAlertSources(context).map(
    ({ ip, failed_count }) => `${ip} (${formatNumber(failed_count)} failed)`,
  );
  if (more > 0) list.push(`${formatCount(more)} more`);
  const cause = findCause(context);
  if (cause !== undefined) return `${cause.text} Sources: ${list.join(', ')}.`;
  return `${formatNumber(context['failed_count'])} of ${formatNumber(context['message_count'])} messages from addresses not seen before failed: ${list.join(', ')}.`;
}

/** The sources that a context names. */
export function listAlertSources({ sources }: AlertContext): readonly AlertContext[] {
  return Array.isArray(sources) ? (sources as AlertContext[]) : [];
}

/** The service, or the address without one, of most failed messages; and how many sources are not its own. */
function findCause(context: AlertContext): Cause | undefined {
  const sources = listAlertSources(context);
  const failed = new Map<unknown, number>();
  for (const { service, ip, failed_count } of sources) {
    const sender = service ?? ip;
    failed.set(sender, addSafely(failed.get(sender) ?? 0, Number(failed_count)));
  }
  const [most] = [...failed].sort(([, a], [, b]) => b - a);
  if (most === undefined) return undefined;
  const others = sources.filter(({ service, ip }) => (service ?? ip) !== most[0]);
  const more = others.length + Number(context['additional_sources'] ?? 0);
  const isService = sources.some(({ service }) => service === most[0]);
  const who = String(most[0]);
  const all = `${who}${more === 0 ? '' : ` and ${pluralize(more, 'more source')}`}`;
  const { failed_count, message_count } = context;
  const sent = `sent ${pluralize(Number(message_count), 'message')}`;
  const failures = `of which ${formatCount(Number(failed_count))} failed`;
  const text =
    isService || more > 0
      ? `${all} ${sent} from addresses not seen before, ${failures}. Mark them as legitimate or as unknown.`
      : `${who}, not seen before, ${sent}, ${failures}. Mark it as legitimate or as unknown.`;
  return { sender: isService ? who : undefined, text };
}
