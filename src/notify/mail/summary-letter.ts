import { addDays, type Day } from '../../domain/instant.ts';
import { type Counts, toDrop } from '../../domain/pass-rate.ts';
import {
  formatCount,
  formatDay,
  formatDomainName,
  formatPassRate,
  pluralize,
} from '../../domain/text.ts';
import type { Letter } from './letter.ts';
import type { Week } from './week.ts';

/** What there is to do for a domain. */
export interface DomainWork {
  readonly id: string;
  readonly name: string;
  /** Titles. */
  readonly openAlerts: readonly string[];
  readonly step: string;
}

export type DomainWeek = DomainWork & Week;

/** `total` is how many domains the account has. */
export function toSummaryLetter(
  { monday, domains, total }: { monday: Day; domains: readonly DomainWeek[]; total: number },
  { baseUrl, account }: { baseUrl: string; account: string },
): Letter {
  const more = total - domains.length;
  return {
    subject: `The week to ${formatDay(addDays(monday, -1))}: ${account}`,
    blocks: [
      ...(total === 0 ? ['The account has no domain yet.'] : []),
      ...domains.flatMap((domain) => [
        { heading: formatDomainName(domain.name) },
        describeFigures(domain),
        ...(domain.openAlerts.length > 0 ? [`Open: ${domain.openAlerts.join(', ')}.`] : []),
        domain.step,
      ]),
      ...(more > 0 ? [`And ${pluralize(more, 'domain')} more.`] : []),
      { link: `${baseUrl}/settings/what-changed`, text: 'See what changed' },
      { link: `${baseUrl}/settings/overview`, text: 'Open the overview' },
    ],
    reason: `You get a summary of the account “${account}” on Mondays.`,
  };
}

function describeFigures({ counts, before, newSources }: DomainWeek): string {
  if (counts.messages === 0) return 'No report of that week has come.';
  const rate = `${pluralize(counts.messages, 'message')}, ${formatPassRate(counts)} passed`;
  const figures = `${rate}${describeChange(counts, before)}.`;
  if (newSources === 0) return figures;
  return `${figures} ${pluralize(newSources, 'source')} sent for the first time in a month.`;
}

function describeChange(counts: Counts, before: Counts): string {
  if (before.messages === 0) return '';
  const points = toDrop(before, counts);
  if (points === 0) return ', as in the week before';
  return `, ${formatCount(Math.abs(points))} points ${points > 0 ? 'less' : 'more'} than in the week before`;
}
