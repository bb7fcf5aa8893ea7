import type { components } from '../../../generated/v1.d.ts';
import { describeChange, findAlertCause, findAlertText } from '../../domain/alerts/alert-texts.ts';
import { formatDomainName, formatTime, pluralize } from '../../domain/text.ts';
import type { Letter } from './letter.ts';

/** The data of an event for people. */
export interface Alert extends Readonly<components['schemas']['Alert']> {
  readonly told_as: string;
}

/** A firing or a resolution. */
export interface AlertChange extends Alert {
  readonly eventId: string;
  readonly isResolved: boolean;
  readonly domain: string;
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
  const { type, isResolved, domain, context, fired_at, resolved_at, told_as } = change;
  const { describe, advice } = findAlertText(type);
  const subject = `${told_as} on ${formatDomainName(domain)}`;
  const page = `${frame.baseUrl}/settings/domains/${change.domain_id}`;
  const times = resolved_at === null ? '' : ` Resolved on ${formatTime(resolved_at)}.`;
  return {
    subject: isResolved ? `Re: ${subject}` : subject,
    blocks: [
      ...(isResolved ? ['This alert is resolved.'] : []),
      describe(context),
      ...(isResolved || findAlertCause(type, context) !== undefined ? [] : [advice]),
      `Fired on ${formatTime(fired_at)}.${times}`,
      { link: `${page}#alerts`, text: 'Open the domain’s page' },
      ...(frame.isLastToday ? [LAST] : []),
    ],
    reason: `You get mail about alerts of the account “${frame.account}”.`,
  };
}

/** One mail for many changes. */
export function toListLetter(changes: readonly AlertChange[], frame: Frame): Letter {
  const fired = changes.filter(({ isResolved }) => !isResolved).length;
  const more = changes.length - MAX_LISTED;
  const toItem = (change: AlertChange) => describeChange(change, formatDomainName(change.domain));
  return {
    subject: `${pluralize(fired, 'alert')} fired and ${changes.length - fired} resolved`,
    blocks: [
      { list: changes.slice(0, MAX_LISTED).map(toItem) },
      ...(more > 0 ? [`And ${more} more.`] : []),
      { link: `${frame.baseUrl}/settings/overview`, text: 'Open the overview' },
      ...(frame.isLastToday ? [LAST] : []),
    ],
    reason: `You get mail about alerts of the account “${frame.account}”.`,
  };
}
