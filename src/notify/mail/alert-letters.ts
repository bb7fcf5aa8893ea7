import { findAlertText } from '../../domain/alerts/alert-texts.ts';
import type { Instant } from '../../domain/instant.ts';
import { formatDomainName, formatTime, pluralize } from '../../domain/text.ts';
import type { Letter } from './letter.ts';

/** A firing or a resolution, as the event has it. */
export interface AlertChange {
  readonly eventId: string;
  readonly isResolved: boolean;
  readonly id: string;
  readonly domainId: string;
  readonly domain: string;
  readonly type: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly firedAt: Instant;
  readonly resolvedAt: Instant | null;
}

interface Frame {
  readonly baseUrl: string;
  readonly account: string;
  readonly isLastToday: boolean;
}

const LAST =
  'This is the last mail about alerts for today. What else happens comes tomorrow, in one mail.';
const MAX_LISTED = 50;

/** A resolution has its firing's subject, so that both stand in one thread. */
export function toAlertLetter(change: AlertChange, frame: Frame): Letter {
  const { title, describe, advice } = findAlertText(change.type);
  const { isResolved, domain, context, firedAt, resolvedAt } = change;
  const subject = `${title} on ${formatDomainName(domain)}`;
  const times = resolvedAt === null ? '' : ` Resolved on ${formatTime(resolvedAt)}.`;
  return {
    subject: isResolved ? `Re: ${subject}` : subject,
    blocks: [
      ...(isResolved ? ['This alert is resolved.'] : []),
      describe(context),
      ...(isResolved ? [] : [advice]),
      `Fired on ${formatTime(firedAt)}.${times}`,
      { link: toDomainUrl(change, frame), text: 'Open the domain’s page' },
      ...(frame.isLastToday ? [LAST] : []),
    ],
    reason: toReason(frame, 'alerts'),
  };
}

/** One mail for many changes. */
export function toListLetter(changes: readonly AlertChange[], frame: Frame): Letter {
  const fired = changes.filter(({ isResolved }) => !isResolved).length;
  const more = changes.length - MAX_LISTED;
  return {
    subject: `${pluralize(fired, 'alert')} fired and ${changes.length - fired} resolved`,
    blocks: [
      { list: changes.slice(0, MAX_LISTED).map(describeChange) },
      ...(more > 0 ? [`And ${more} more.`] : []),
      { link: `${frame.baseUrl}/settings/overview`, text: 'Open the overview' },
      ...(frame.isLastToday ? [LAST] : []),
    ],
    reason: toReason(frame, 'alerts'),
  };
}

function describeChange({ type, domain, context, isResolved }: AlertChange): string {
  const { title, describe } = findAlertText(type);
  const what = `${title} on ${formatDomainName(domain)}`;
  return isResolved ? `Resolved: ${what}.` : `${what}. ${describe(context)}`;
}

function toDomainUrl({ domainId }: AlertChange, { baseUrl }: Frame): string {
  return `${baseUrl}/settings/domains/${domainId}#alerts`;
}

function toReason({ baseUrl, account }: Omit<Frame, 'isLastToday'>, what: string): string {
  return `You get mail about ${what} of the account “${account}”. Choose what you get: ${baseUrl}/settings/mail`;
}
