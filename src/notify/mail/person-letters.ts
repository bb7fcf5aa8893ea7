import type { AuditAction } from '../../domain/access/audit-actions.ts';
import type { Instant } from '../../domain/instant.ts';
import { DAYS_NEW } from '../../domain/reports/authentication.ts';
import { formatTime } from '../../domain/text.ts';
import { OFF_REASONS, type OffReason } from '../../domain/webhooks/webhook.ts';
import type { Notice } from '../../store/events/notices.ts';
import type { Letter } from './letter.ts';

interface Frame {
  readonly baseUrl: string;
  readonly account: string;
  readonly at: Instant;
}

/** What was done, said to the person to whom it was done. */
const CHANGES: Partial<Record<AuditAction, (notice: Notice) => string>> = {
  password_changed: () => 'Your password was changed',
  person_role_changed: ({ detail }) =>
    `You are ${detail === 'owner' ? 'an owner' : 'a member'} of the account now`,
  second_factor_on: () => 'Your second factor was turned on',
  second_factor_off: () => 'Your second factor was turned off',
  second_factor_reset: () => 'Your second factor was reset',
  recovery_codes_renewed: () => 'Your recovery codes were renewed',
  single_sign_on_bound: () => 'You signed in with single sign-on for the first time',
};

/** undefined for a change that nobody is told of. */
export function toChangeLetter(notice: Notice, frame: Frame): Letter | undefined {
  const subject = CHANGES[notice.action]?.(notice);
  if (subject === undefined) return undefined;
  return {
    subject,
    blocks: [
      describeActor(notice, frame),
      'If you did not expect this, change your password, and ask an owner of the account or the operator of this Plumbline.',
      { link: `${frame.baseUrl}/settings/security`, text: 'Open your sign-in and sessions' },
    ],
    reason: toReason(frame),
  };
}

export function toLinkLetter(notice: Notice, token: string, frame: Frame): Letter {
  const isInvitation = notice.action === 'person_invited';
  const link = `${frame.baseUrl}/settings/welcome?link=${token}`;
  return {
    subject: isInvitation ? `Your invitation to ${frame.account}` : 'Choose a new password',
    blocks: [
      isInvitation
        ? `You are invited to see the DMARC reports of the account “${frame.account}”. Choose a password to sign in.`
        : 'Somebody asked for a link with which you choose a new password. If that was not you, ignore this mail: nothing changes.',
      { link, text: 'Choose a password' },
      'The link works once, within 24 hours. Anyone who has it can sign in as you.',
    ],
    reason: toReason(frame),
  };
}

/** Keys that a mail names. */
const MAX_KEYS = 20;

export function toKeysLetter(
  notices: readonly (Notice & Pick<Frame, 'at'>)[],
  frame: Omit<Frame, 'at'>,
): Letter {
  const { length } = notices;
  const more = length - MAX_KEYS;
  return {
    subject:
      length === 1
        ? `An API key was created: ${notices[0]?.subject}`
        : `${length} API keys were created`,
    blocks: [
      ...notices
        .slice(0, MAX_KEYS)
        .flatMap(({ at, ...notice }) => [
          `The key “${notice.subject}” (${notice.detail}…) can read the reports of the account “${frame.account}”.`,
          describeActor(notice, { ...frame, at }),
        ]),
      ...(more > 0 ? [`And ${more} more.`] : []),
      { link: `${frame.baseUrl}/settings/integrations/api-keys`, text: 'Open the API keys' },
    ],
    reason: `You are an owner of the account “${frame.account}”.`,
  };
}

export function toReporterLetter({ subject, detail }: Notice, frame: Frame): Letter {
  return {
    subject: `A new reporter sends reports about ${detail}: ${subject}`,
    blocks: [
      `The first report that is authenticated as ${subject} came on ${formatTime(frame.at)}. Anybody can register a domain and sign with it.`,
      `For ${DAYS_NEW} days its reports are set aside where others are believed. From then on they count as theirs do. If you do not know it, tell the operator of this Plumbline.`,
      { link: `${frame.baseUrl}/settings`, text: 'Open the domains' },
    ],
    reason: `You are an owner of the account “${frame.account}”.`,
  };
}

export function toDeletionLetter(notice: Notice, frame: Frame): Letter {
  const isAsked = notice.action === 'deletion_asked';
  return {
    subject: isAsked
      ? `The deletion of the account “${frame.account}” was asked for`
      : `The account “${frame.account}” stays: its deletion was taken back`,
    blocks: [
      describeActor(notice, frame),
      isAsked
        ? 'The operator of this Plumbline deletes the account. Until then everything goes on, and an owner can take it back.'
        : 'Nothing was deleted.',
      { link: `${frame.baseUrl}/settings/account`, text: 'Open the account' },
    ],
    reason: `You are an owner of the account “${frame.account}”.`,
  };
}

export function toWebhookLetter(
  { webhook_id, url, reason }: { webhook_id: string; url: string; reason: OffReason },
  frame: Frame,
): Letter {
  const link = `${frame.baseUrl}/settings/integrations/webhooks/${webhook_id}`;
  return {
    subject: 'A webhook was turned off',
    blocks: [
      `Nothing is sent any more to ${url}. ${OFF_REASONS[reason]}`,
      `On ${formatTime(frame.at)}.`,
      { link, text: 'Open the webhook' },
    ],
    reason: `You are an owner of the account “${frame.account}”.`,
  };
}

function describeActor({ actor, address }: Notice, { at }: Frame): string {
  const who = actor === 'operator' ? 'the operator of this Plumbline' : actor;
  return `By ${who}${address === null ? '' : `, from ${address}`}, on ${formatTime(at)}.`;
}

function toReason({ baseUrl, account }: Frame): string {
  return `It is about your own sign-in to ${baseUrl}, account “${account}”.`;
}
