import { findAlertText } from '../../domain/alerts/alert-texts.ts';
import { type Counts, toPassRate } from '../../domain/alerts/rate.ts';
import { addDays, type Day } from '../../domain/instant.ts';
import {
  formatCount,
  formatDay,
  formatDomainName,
  formatPassRate,
  pluralize,
} from '../../domain/text.ts';
import type { DomainWeek } from '../../store/notify/summaries.ts';
import type { Letter } from './letter.ts';

interface Week {
  readonly monday: Day;
  readonly domains: readonly DomainWeek[];
  /** How many the account has. */
  readonly total: number;
  readonly baseUrl: string;
  readonly account: string;
  /** What to do next for a domain. */
  readonly describeStep: (domainId: string) => string | undefined;
}

export function toSummaryLetter(week: Week): Letter {
  const { monday, domains, total, baseUrl, account, describeStep } = week;
  const more = total - domains.length;
  return {
    subject: `The week to ${formatDay(addDays(monday, -1))}: ${account}`,
    blocks: [
      ...(total === 0 ? ['The account has no domain yet.'] : []),
      ...domains.flatMap((domain) => [
        { heading: formatDomainName(domain.name) },
        describeFigures(domain),
        ...describeAlerts(domain),
        ...[describeStep(domain.id)].filter((step) => step !== undefined),
      ]),
      ...(more > 0 ? [`And ${pluralize(more, 'domain')} more.`] : []),
      { link: `${baseUrl}/settings/overview`, text: 'Open the overview' },
    ],
    reason: `You get a summary of the account “${account}” on Mondays. Choose what you get: ${baseUrl}/settings/mail`,
  };
}

function describeFigures({ counts, before, newSources }: DomainWeek): string {
  if (counts.messages === 0) return 'No report of that week has come.';
  const rate = `${pluralize(counts.messages, 'message')}, ${formatPassRate(counts)} passed`;
  const sources =
    newSources === 0
      ? ''
      : ` ${pluralize(newSources, 'source')} sent for the first time in a month.`;
  return `${rate}${describeChange(counts, before)}.${sources}`;
}

function describeChange(counts: Counts, before: Counts): string {
  if (before.messages === 0) return '';
  const points = Math.round((toPassRate(counts) - toPassRate(before)) * 100) / 100;
  if (points === 0) return ', as in the week before';
  return `, ${formatCount(Math.abs(points))} points ${points > 0 ? 'more' : 'less'} than in the week before`;
}

function describeAlerts({ openAlerts }: DomainWeek): string[] {
  if (openAlerts.length === 0) return [];
  const titles = openAlerts.map((type) => findAlertText(type).title);
  return [`Open: ${titles.join(', ')}.`];
}
