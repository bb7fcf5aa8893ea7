import { toAlertDays } from './alerts/alert-days.ts';
import { findAlertText } from './alerts/alert-texts.ts';
import { findRule } from './alerts/registry.ts';
import type { PolicyTag } from './dns/dns-record.ts';
import type { FailingSender, UnsignedSender } from './domain-facts.ts';
import type { AlertStep, NextStep, Strangers } from './next-step.ts';
import type { Standing } from './own-mail.ts';
import { addUp, type Counts, failedOf } from './pass-rate.ts';
import { QUIET_DAYS, WINDOW_DAYS } from './readiness.ts';
import {
  describeFirstReports,
  describeLock,
  describeMissingRecord,
  ROUTE,
  type StepDomain,
  type StepText,
} from './record-texts.ts';
import { describeApplied, describeSender, describeUnsigned } from './sender-texts.ts';
import { formatCount, formatDay, MAX_TITLE, pluralize, toSafeText } from './text.ts';

/** The list of sources over the days of the next step, of one sender or of one standing, and no others. */
export function toSendersQuery(chosen: { readonly within?: string; readonly standing?: Standing }) {
  return new URLSearchParams({ days: String(WINDOW_DAYS), failing: '1', ...chosen }).toString();
}

const SOURCES = ['/sources?failing=1', 'See who failed'] as const;

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
  tls: () => ['#tls', 'See what failed'] as const,
  alert: () => ['#alerts', 'See it'] as const,
};

export function describeStep(step: NextStep, domain: StepDomain): StepText {
  const { name, address } = domain;
  switch (step.kind) {
    case 'resume':
      return { text: 'The domain is paused: the operator of this Plumbline can resume it.' };
    case 'first_reports':
      return describeFirstReports(domain);
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
    case 'sign':
      return describeSign(step.senders, name);
    case 'forwarded':
      return describeForwarded(step.senders);
    case 'enforce':
      return describeIf(
        step.strangers,
        `${describeOwned(step.owned)}: remove ${step.tags.join(' and ')} from the DMARC record, so that p=${step.policy} applies to all mail`,
      );
    case 'stronger':
      return describeStronger(step);
    case 'policy_unknown':
      return {
        text: `${describeOwned(step.owned)}, but no report says which policy is published: look it up in DNS.`,
      };
    case 'nothing':
      return { text: 'Nothing to do: receivers are asked to reject mail that fails.' };
  }
}

function describeAlert(step: AlertStep): StepText {
  const { type, cause, fault } = step;
  const toLink = ALERT_LINKS[findRule(type)?.link ?? 'alert'];
  const text = cause?.text ?? findAlertText(type).advice;
  return { text: [text, fault].filter(Boolean).join(' '), link: toLink(step) };
}

export function describeWait({
  dataDays,
  messages,
  daysToGo,
  isUnproven,
}: Omit<Extract<NextStep, { kind: 'wait' }>, 'kind'>): string {
  if (isUnproven) return UNPROVEN;
  if (daysToGo !== undefined)
    return `With so little mail (${pluralize(messages, 'message')} in ${WINDOW_DAYS} days), ${QUIET_DAYS} days without mail of yours that fails are enough: ${formatCount(daysToGo)} to go.`;
  if (messages === 0) return 'Wait for more reports: no message is known to be yours yet.';
  return `Wait for more reports: ${pluralize(dataDays, 'day')} of ${WINDOW_DAYS} have data, with ${pluralize(messages, 'message')}.`;
}

function describeFailing({
  counts,
  sender,
  others,
  isRejected,
}: Extract<NextStep, { kind: 'failing' }>): StepText {
  if (sender === undefined)
    return {
      text: `${formatCount(failedOf(counts))} of ${pluralize(counts.messages, 'message')} that may be yours failed in ${WINDOW_DAYS} days: find out who sent them.`,
      link: SOURCES,
    };
  const done = isRejected ? describeApplied(sender) : '';
  const more =
    others === 0 ? '' : ` ${pluralize(others, 'more sender')} ${others === 1 ? 'fails' : 'fail'}.`;
  return {
    text: `${describeSender(sender)}${done}${more}`,
    link: [`/sources?${toSendersQuery({ within: sender.key })}`, 'See them'],
  };
}

/** The switch of the sender that sends most. */
function describeSign(senders: readonly UnsignedSender[], name: string): StepText {
  const [first] = senders as [UnsignedSender];
  const messages = pluralize(first.unsigned, 'message');
  const more =
    senders.length === 1
      ? ''
      : ` ${pluralize(senders.length - 1, 'more sender')} of yours ${senders.length === 2 ? 'does' : 'do'} the same.`;
  return {
    text: `${describeUnsigned(first, name)} ${messages} passed by SPF alone in ${WINDOW_DAYS} days, and would be refused with p=reject wherever they are forwarded.${more}`,
    link: [
      `/sources?${new URLSearchParams({ days: String(WINDOW_DAYS), within: first.key })}`,
      'See them',
    ],
  };
}

function describeForwarded(senders: readonly FailingSender[]): StepText {
  const names = senders.slice(0, 3).map(({ title }) => toSafeText(title, MAX_TITLE));
  const more = senders.length > 3 ? ` and ${pluralize(senders.length - 3, 'more sender')}` : '';
  const messages = pluralize(failedOf(addUp(senders)), 'message');
  return {
    text: `${messages} of yours that others passed on would be stopped: look first at ${names.join(', ')}${more}. Mark as unknown what may be stopped.`,
    link: [`/sources?${toSendersQuery({ standing: 'forwarded' })}`, 'Look at them'],
  };
}

export const UNPROVEN =
  'Wait for reports of an established reporter: so far, anybody may have sent those that came.';

const NAMES = { sp: 'Subdomains', np: 'Subdomains that do not exist' } as const;

function describeStronger(step: Extract<NextStep, { kind: 'stronger' }>): StepText {
  const { tag, from, to, owned, strangers } = step;
  if (tag !== 'p') {
    const now = from === null ? `the value of ${tag} is not valid` : `${tag}=${from}`;
    const text = `${NAMES[tag]} are not protected (${now}): publish ${tag}=${to}, or no ${tag} at all`;
    return describeIf(strangers, text, tag);
  }
  const change =
    from === null
      ? `the DMARC record has no valid p tag, which counts as p=none. Publish p=${to} in it, directly after v=DMARC1`
      : `change p=${from} in the DMARC record to p=${to}`;
  return describeIf(strangers, `${describeOwned(owned)}: ${change}`);
}

export function describeOwned(owned: Counts): string {
  const { messages, aligned } = owned;
  if (messages === 0) return `No mail of yours failed in ${WINDOW_DAYS} days`;
  const all = pluralize(messages, 'message');
  const some = failedOf(owned) === 0 ? `All ${all}` : `${formatCount(aligned)} of ${all}`;
  return `${messages === 1 ? `The one message` : some} of your senders passed in ${WINDOW_DAYS} days`;
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
