import { toSafeText } from '../text.ts';
import type { AlertContext } from './context.ts';
import { findRule } from './registry.ts';
import type { AlertRule, Cause } from './rule.ts';

/* What pages and mails say of an alert. */

type AlertText = Pick<AlertRule<string, never>, 'title' | 'describe' | 'advice'>;

/** A type that this version does not know is its own title. */
export function findAlertText(type: string): AlertText {
  const { title, advice, describe } = findRule(type) ?? toUnknownText(type);
  return {
    title,
    advice,
    describe: (context) => `${describe(context)}${describeDoubt(context)}`,
  };
}

/** Who sends what fails; undefined while that is not known. */
export function findAlertCause(type: string, context: AlertContext): Cause | undefined {
  return findRule(type)?.findCause?.(context);
}

/** The subject of mails about an alert, before the name of its domain. */
export function toHeadline(type: string, context: AlertContext): string {
  const sender = findAlertCause(type, context)?.sender;
  return sender === undefined ? findAlertText(type).title : `${sender} fails`;
}

/**
 * Whether nobody says so but reports that are not believed, of a domain that has an established reporter: no person is told,
 * it is no next step, and pages show it apart.
 */
export function isUnconfirmed({ unconfirmed }: AlertContext): boolean {
  return unconfirmed === true;
}

/** A firing or a resolution in one sentence. `domain` is a name as people read it. */
export function describeChange(
  { type, context, isResolved }: { type: string; context: AlertContext; isResolved: boolean },
  domain: string,
): string {
  const { title, describe } = findAlertText(type);
  return isResolved
    ? `Resolved: ${title} on ${domain}`
    : `${title} on ${domain}: ${describe(context)}`;
}

function toUnknownText(type: string): AlertText {
  const title = toSafeText(type);
  return { title, describe: describeUnknown, advice: 'An alert is open: look at it.' };
}

function describeUnknown(context: AlertContext): string {
  return Object.entries(context)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(', ');
}

function describeDoubt(context: AlertContext): string {
  if (isUnconfirmed(context))
    return ' Nobody who is established reports it, and anybody can send such a report: no mail tells of it.';
  return context['unauthenticated'] === true
    ? ' Only reports say so whose senders are not authenticated, or new: anybody can send such a mail.'
    : '';
}
