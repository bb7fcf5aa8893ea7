import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Role } from './access/person.ts';
import type { EventType } from './events.ts';

/** When a person gets mail about alerts. */
export const ALERT_MAILS = ['at_once', 'daily', 'none'] as const;
export type AlertMail = (typeof ALERT_MAILS)[number];

/** Domains that a person leaves out. */
export const MAX_LEFT_OUT = 200;

/** After so many refusals in a row an address gets no more mail, until its person confirms it. */
export const MAX_REFUSALS = 3;

export const defaultAlertMail = (role: Role): AlertMail => (role === 'owner' ? 'at_once' : 'none');

const OF_OWNERS = ['key.created', 'reporter.new', 'webhook.disabled', 'account.deletion'] as const;

/** The events that a person is told of. What concerns only the person comes besides. */
export function listMailedEvents(role: Role, alerts: AlertMail): readonly EventType[] {
  return [
    ...(alerts === 'none' ? [] : (['mail.alert_fired', 'mail.alert_resolved'] as const)),
    ...(role === 'owner' ? OF_OWNERS : []),
  ];
}

/** What a link in a mail can end. */
const SUBSCRIPTIONS = ['alerts', 'summary'] as const;
export type Subscription = (typeof SUBSCRIPTIONS)[number];

/** `<subscription>.<person>.<signature>`: whoever has it can end that subscription, and nothing else. */
export function toUnsubscribeToken(subscription: Subscription, personId: string, key: Uint8Array) {
  const text = `${subscription}.${personId}`;
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
}

/** Whom a token names, and whether their key has signed it. */
export function parseUnsubscribeToken(token: string) {
  const [, name, personId = ''] = /^(\w+)\.([0-9a-f-]{36})\.[\w-]{43}$/.exec(token) ?? [];
  const subscription = SUBSCRIPTIONS.find((one) => one === name);
  if (subscription === undefined) return undefined;
  const isSignedWith = (key: Uint8Array) => {
    const expected = toUnsubscribeToken(subscription, personId, key);
    return timingSafeEqual(Buffer.from(token), Buffer.from(expected));
  };
  return { subscription, personId, isSignedWith };
}
