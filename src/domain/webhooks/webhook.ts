import { randomBytes } from 'node:crypto';
import type { AccountPlan } from '../access/api-key.ts';
import type { EventType } from '../events.ts';
import { Failure } from '../failure.ts';

/** Endpoints that are off count. */
export const MAX_WEBHOOKS = 5;
/** How long the secret from before a rotation signs too. */
export const OLD_SECRET_MS = 24 * 3_600_000;

export const FORMATS = ['standard', 'slack'] as const;
export type Format = (typeof FORMATS)[number];

/** The events that an endpoint can choose. A test is sent to any. */
export const WEBHOOK_EVENTS = [
  'alert.fired',
  'alert.resolved',
  'report.received',
  'report.removed',
  'tls_report.received',
  'domain.listed',
  'domain.unlisted',
  'domain.removed',
] as const;
/** Those that an endpoint has where nothing is chosen: programs from before know no others. */
export const USUAL_EVENTS = WEBHOOK_EVENTS.filter((event) => event !== 'tls_report.received');
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number] & EventType;

/** Why Plumbline has turned an endpoint off. */
export const OFF_REASONS = {
  gone: 'Plumbline turned it off: the endpoint answered 410, which says that it wants no more.',
  failing: 'Plumbline turned it off: for five days every delivery failed.',
  plan: 'It was turned off when the account left the Pro plan.',
} as const;
export type OffReason = keyof typeof OFF_REASONS;

/** 256 random bits in the form of Standard Webhooks. */
export function createWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

export function parseWebhookEvents(names: readonly string[]): readonly WebhookEvent[] {
  const events = WEBHOOK_EVENTS.filter((event) => names.includes(event));
  if (events.length > 0 && events.length === new Set(names).size) return events;
  throw new Failure(
    'validation_error',
    `Choose one or more of these events: ${WEBHOOK_EVENTS.join(', ')}.`,
  );
}

const MAX_DESCRIPTION = 100;

/** Trimmed; empty for none. */
export function parseDescription(text: string): string {
  const description = text.trim().toWellFormed();
  if (description.length <= MAX_DESCRIPTION && !/\p{Cc}/u.test(description)) return description;
  throw new Failure(
    'validation_error',
    `A description has at most ${MAX_DESCRIPTION} characters, none of them a control character.`,
  );
}

/** Why an account cannot have a new endpoint, or cannot turn one on (with a count of 0). */
export function findWebhookRefusal(plan: AccountPlan, count: number): Failure | undefined {
  if (plan !== 'pro')
    return new Failure(
      'plan_required',
      'Webhooks are part of the Pro plan; this account is not on it.',
    );
  if (count < MAX_WEBHOOKS) return undefined;
  return new Failure(
    'limit_reached',
    `An account has at most ${MAX_WEBHOOKS} endpoints, those that are off included. Delete one to make room.`,
  );
}

/** undefined when no two of an account's endpoints have this address. */
export function findTwice(webhooks: readonly { readonly url: string }[], url: string) {
  const isTwice = webhooks.filter((one) => one.url === url).length > 1;
  return isTwice ? 'Another endpoint has the same address: events go to it by both.' : undefined;
}
