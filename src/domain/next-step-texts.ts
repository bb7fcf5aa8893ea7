import { toAlertDays } from './alerts/alert-days.ts';
import { findAlertText } from './alerts/alert-texts.ts';
import { findRule } from './alerts/registry.ts';
import type { PolicyTag } from './dns/dns-record.ts';
import { toFirstRecord, toRejectRecord } from './dns/records-to-publish.ts';
import type { AlertStep, NextStep, Strangers } from './next-step.ts';
import type { Standing } from './own-mail.ts';
import { type Counts, failedOf } from './pass-rate.ts';
import { type FailingSender, QUIET_DAYS, WINDOW_DAYS } from './readiness.ts';
import { formatCount, formatDay, formatPassRate, pluralize, toSafeText } from './text.ts';

interface StepText {
  readonly text: string;
  /** Text to publish or to look up, verbatim. */
  readonly code?: string;
  /** What follows the path of the domain's page, and the text of the link. */
  readonly link?: readonly [path: string, text: string];
}

export interface StepDomain {
  readonly id: string;
  readonly name: string;
  /** The address for reports that the domain's record should name. */
  readonly address: string | undefined;
  /** The DMARC record, where it is known. */
  readonly record?: string | null | undefined;
}

/** The list of sources over the days of the next step, of one sender or of one standing, and no others. */
export function toSendersQuery(chosen: { readonly within?: string; readonly standing?: Standing }) {
  return new URLSearchParams({ days: String(WINDOW_DAYS), failing: '1', ...chosen }).toString();
}

const GOOD = `More than 99% of your mail passed for ${WINDOW_DAYS} days`;
const SOURCES = ['/sources?failing=1', 'See who failed'] as const;
const ROUTE = ['#route', 'What DNS needs'] as const;

/** The days of the link are those of the alert's own links. */
function toSources({ type, day, today }: AlertStep): NonNullable<StepText['link']> {
  if (day === undefined) return SOURCES;
  const { from, to } = toAlertDays({ type, day, end: today });
  const when = from === to ? `on ${formatDay(day)}` : `from ${formatDay(day)} on`;
  return [`/sources?failing=1&from=${from}&to=${to}`, `See who failed ${when}`];
}

const ALERT_LINKS = {
  sources: toSources,
  dns: () => ROUTE,
  alert: () => ['#alerts', 'See it'] as const,
};

export function describeStep(step: NextStep, domain: StepDomain): StepText {
  const { name, address } = domain;
  switch (step.kind) {
    case 'resume':
      return { text: 'The domain is paused: the operator of this Plumbline can resume it.' };
    case 'first_reports':
      return describeFirstReports(address, name);
    case 'publish_record':
      return describeMissingRecord(address, name);
    case 'one_record':
      return {
        text: `DNS has several DMARC records at _dmarc.${name}, which count as none: publish only one.`,
        link: ROUTE,
      };
    case 'alert':
      return describeAlert(step);
    case 'silent':
      return {
        text: `No report covers a day after ${formatDay(step.newest)}: make sure that DNS still asks for them.`,
        link: ROUTE,
      };
    case 'wait':
      return { text: describeWait(step) };
    case 'no_passing_mail':
      return {
        text: `No mail of the domain passed for ${WINDOW_DAYS} days. If it sends no mail, say so: then p=reject is right at once.`,
        link: ['#sends-no-mail', 'Say it'],
      };
    case 'lock':
      return describeLock(domain);
    case 'sends_after_all':
      return {
        text: `The domain is said to send no mail, and ${pluralize(step.messages, 'message')} passed in ${WINDOW_DAYS} days: see who sent them, or take the word back.`,
        link: ['/sources', 'See who sent'],
      };
    case 'failing':
      return describeFailing(step);
    case 'forwarded':
      return describeForwarded(step.senders);
    case 'enforce':
      return describeIf(
        step.strangers,
        `${GOOD}: remove ${step.tags.join(' and ')} from the DMARC record, so that p=${step.policy} applies to all mail`,
      );
    case 'stronger':
      return describeStronger(step);
    case 'policy_unknown':
      return { text: `${GOOD}, but no report says which policy is published: look it up in DNS.` };
    case 'nothing':
      return { text: 'Nothing to do: mail that fails is rejected.' };
  }
}

function describeAlert(step: AlertStep): StepText {
  const { type, cause } = step;
  const toLink = ALERT_LINKS[findRule(type)?.link ?? 'alert'];
  return { text: cause ?? findAlertText(type).advice, link: toLink(step) };
}

function describeFirstReports(address: string | undefined, name: string): StepText {
  if (address === undefined)
    return { text: 'No report has come in yet: ask the operator where reports are to be sent.' };
  const text = `No report has come in yet. Publish a TXT record at _dmarc.${name}:`;
  return { text, code: toFirstRecord(address), link: ROUTE };
}

function describeMissingRecord(address: string | undefined, name: string): StepText {
  const text = `DNS has no DMARC record any more. Publish one at _dmarc.${name}:`;
  return { text, code: address === undefined ? 'v=DMARC1; p=none' : toFirstRecord(address) };
}

export function describeWait({
  dataDays,
  messages,
  daysToGo,
}: Omit<Extract<NextStep, { kind: 'wait' }>, 'kind'>): string {
  if (daysToGo !== undefined)
    return `With so little mail (${pluralize(messages, 'message')} in ${WINDOW_DAYS} days), ${QUIET_DAYS} days without mail of yours that fails are enough: ${formatCount(daysToGo)} to go.`;
  return `Wait for more reports: ${pluralize(dataDays, 'day')} of ${WINDOW_DAYS} have data, with ${pluralize(messages, 'message')}.`;
}

function describeLock({ name, address, record }: StepDomain): StepText {
  const text = `The domain sends no mail, so all mail in its name can be rejected. Publish at _dmarc.${name}:`;
  return { text, code: toRejectRecord(record ?? null, address) };
}

const SINCE = {
  first_report: 'from the first report on',
  before: `in the ${WINDOW_DAYS} days before, too`,
} as const;

function describeFailing({
  counts,
  since,
  sender,
  isRejected,
}: Extract<NextStep, { kind: 'failing' }>): StepText {
  const failed = formatCount(failedOf(counts));
  const all = `${failed} of ${pluralize(counts.messages, 'message')} that may be yours failed in ${WINDOW_DAYS} days (${formatPassRate(counts)} passed)`;
  const why = since === undefined ? '' : ` It was so ${SINCE[since]}, and alerts tell of changes.`;
  const what = isRejected ? ' The policy has them rejected.' : '';
  if (sender === undefined) return { text: `${all}: find out who sent them.${why}`, link: SOURCES };
  return {
    text: `${describeSender(sender)}${what} In all, ${all}.${why}`,
    link: [`/sources?${toSendersQuery({ within: sender.key })}`, 'See them'],
  };
}

/** The sender's name comes from reports and DNS. */
const MAX_TITLE = 80;

/** What to do about a sender, by its name. */
function describeSender({ title, verdict, broken, ...counts }: FailingSender): string {
  const who = toSafeText(title, MAX_TITLE);
  const failed = describeFailed(counts);
  if (broken !== undefined && verdict !== 'not_recognised') {
    const selector = broken.selector ? ` (selector ${toSafeText(broken.selector, MAX_TITLE)})` : '';
    return `${who} signs as ${toSafeText(broken.domain ?? '', MAX_TITLE)}${selector}, and the signature does not verify: compare its key. ${toSentence(failed)}`;
  }
  if (verdict === 'not_recognised')
    return `Do you know ${who}? ${toSentence(failed)} Say whose they are.`;
  if (verdict === 'needs_setup')
    return `${who} sends for you and is not set up for the domain: ${failed}.`;
  return `${who} is yours, and ${failed}: find out why.`;
}

const toSentence = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

function describeFailed(counts: Counts): string {
  const failed = failedOf(counts);
  if (failed === counts.messages) return `all of its ${pluralize(failed, 'message')} fail`;
  return `${formatCount(failed)} of its ${pluralize(counts.messages, 'message')} fail`;
}

function describeForwarded(senders: readonly FailingSender[]): StepText {
  const names = senders.slice(0, 3).map(({ title }) => toSafeText(title, MAX_TITLE));
  const more = senders.length > 3 ? ` and ${pluralize(senders.length - 3, 'more sender')}` : '';
  return {
    text: `Much of your mail is passed on by others, and would be stopped: look at ${names.join(', ')}${more} first. Mark as unknown what may be stopped.`,
    link: [`/sources?${toSendersQuery({ standing: 'forwarded' })}`, 'Look at them'],
  };
}

const NAMES = { sp: 'Subdomains', np: 'Subdomains that do not exist' } as const;

function describeStronger(step: Extract<NextStep, { kind: 'stronger' }>): StepText {
  const { tag, from, to, strangers } = step;
  if (tag !== 'p') {
    const now = from === null ? `the value of ${tag} is not valid` : `${tag}=${from}`;
    const text = `${NAMES[tag]} are not protected (${now}): publish ${tag}=${to}, or no ${tag} at all`;
    return describeIf(strangers, text, tag);
  }
  const change =
    from === null
      ? `the DMARC record has no valid p tag, which counts as p=none. Publish p=${to} in it, directly after v=DMARC1`
      : `change p=${from} in the DMARC record to p=${to}`;
  return describeIf(strangers, `${GOOD}: ${change}`);
}

/** Where the policy of the domain itself is there, what is counted names subdomains; the lists behind links have the rest, too. */
export function describeMessages(count: number, tag: PolicyTag | undefined): string {
  return `${pluralize(count, 'message')}${tag === 'sp' || tag === 'np' ? ' in the name of subdomains' : ''}`;
}

/** What strangers send is stopped as well: the owner looks at it before. */
function describeIf(strangers: Strangers, text: string, tag: PolicyTag = 'p'): StepText {
  if (strangers === undefined) return { text: `${text}.` };
  const { senders } = strangers;
  const isScattered = senders.length > 0 && senders.every(({ key }) => key === 'scattered');
  const who = isScattered
    ? `${formatCount(strangers.sources)} scattered addresses`
    : pluralize(strangers.sources, 'source');
  const whose = `${describeMessages(failedOf(strangers), tag)} from ${who}`;
  return {
    text: `${text}, if ${whose} that failed are not yours.`,
    link: [`/sources?${toSendersQuery({ standing: 'stranger' })}`, 'Look at them'],
  };
}
