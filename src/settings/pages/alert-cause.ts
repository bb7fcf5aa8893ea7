import { html } from 'hono/html';
import type { Counts } from '../../domain/alerts/rate.ts';
import { loadOwnerDomains } from '../../domain/dns/organizational-domain.ts';
import { addDays, type DayRange } from '../../domain/instant.ts';
import { remember } from '../../domain/remember.ts';
import { type FailureCause, findCause } from '../../domain/sources/failure-cause.ts';
import { formatCount, formatDay, pluralize } from '../../domain/text.ts';
import { findDay, type readDomain } from '../../store/domains/overview.ts';
import type { DomainOfAccount } from '../../store/lists/heads.ts';
import type { SettingsDeps } from '../deps.ts';
import { type Html, renderText } from '../frame/text.ts';
import { nameSenders } from './sources/service-groups.ts';
import { MAX_TITLE, renderName, toSourcePath } from './sources/source-labels.ts';

/** The days before that are compared, and as many since. */
const DAYS = 30;

/** The sources of the two ranges that are compared, those with most messages: all but those of a flood. */
const MAX_SOURCES = 5_000;

/** Who fails since the pass rate fell, where the mail of the open alert's own days says so. */
export async function renderCause(
  deps: SettingsDeps,
  scope: DomainOfAccount,
  { domain, open }: Awaited<ReturnType<typeof readDomain>>,
  window: DayRange,
): Promise<Html | ''> {
  const alert = open.find(({ type }) => type === 'alert.alignment_regression');
  const day = findDay(alert?.context ?? '{}');
  if (day === undefined || day > window.to) return '';
  const largest = { failingOnly: false, order: 'messages', limit: MAX_SOURCES, offset: 0 } as const;
  const read = (range: DayRange) =>
    deps.days.listSources({ scope, range, withPatterns: true, ...largest });
  const isLatest = day >= window.from;
  const days = { from: day, to: isLatest ? window.to : addDays(day, DAYS - 1) };
  const before = await read({ from: addDays(day, -DAYS), to: addDays(day, -1) });
  const since = await read(days);
  const patterns = new Map(since.sources.map((source) => [source.address, source.patterns]));
  const mail = { findPatterns: (address: string) => patterns.get(address), marks: since.marks };
  const { toGroup } = await nameSenders(deps, domain, mail);
  const toOrganizationalDomain = remember(await loadOwnerDomains());
  const context = { domain: domain.name, toGroup, toOrganizationalDomain };
  const cause = findCause(before, since, context);
  return cause === undefined ? '' : renderFound(cause, { domainId: domain.id, days });
}

function renderFound(
  { group, addresses, before, since, signature }: FailureCause,
  { domainId, days }: { readonly domainId: string; readonly days: DayRange },
): Html {
  const [address = ''] = addresses;
  const others = addresses.length - 1;
  const path = toSourcePath(domainId, ...(others === 0 ? [address] : []));
  const query = new URLSearchParams({
    ...(others > 0 && { failing: '1', within: group.key }),
    ...days,
  });
  const who = `${address}${others === 0 ? '' : ` and ${formatCount(others)} more`}`;
  return html`<p>Most of what has failed since is from <a href="${path}?${query}">${renderText(group.title ?? address, MAX_TITLE)}</a>${group.key === address ? '' : ` (${who})`}:
    ${describeFailed(since)} failed from ${formatDay(days.from)} on; in the ${DAYS} days before, ${before.messages === 0 ? 'it sent none' : `${describeFailed(before)} did`}.
    ${signature === undefined ? '' : renderSignature(signature)}</p>`;
}

const describeFailed = ({ messages, aligned }: Counts) =>
  `${formatCount(messages - aligned)} of ${pluralize(messages, 'message')}`;

function renderSignature({
  domain,
  selector,
  before,
  since,
}: NonNullable<FailureCause['signature']>): Html {
  return html`A valid DKIM signature of ${renderName(domain)}${selector ? html` with selector ${renderName(selector)}` : ''}
    is on ${formatCount(since.aligned)} of ${pluralize(since.messages, 'message')} since; before it was on ${formatCount(before.aligned)} of ${formatCount(before.messages)}.`;
}
