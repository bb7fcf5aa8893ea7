import { html } from 'hono/html';
import type { AuditAction, AuditKind } from '../../domain/access/audit-actions.ts';
import type { AuditEntry } from '../../store/accounts/audit.ts';
import type { Html } from '../frame/page.ts';
import { toKnownWord, toSafeText } from '../frame/words.ts';
import { findAlertTitle } from './alert-words.ts';

/** The kinds of entries, as the filter names them. */
export const KIND_WORDS = {
  key: 'API keys',
  person: 'People',
  account: 'The account',
  domain: 'Domains',
  alert: 'Alerts',
  source: 'Sources',
} as const satisfies Record<AuditKind, string>;

const PLANS: Readonly<Record<string, string>> = { pro: 'Pro', free: 'Free' };

/** What stands between the actor and the subject. */
const VERBS = {
  key_created: 'created the key',
  key_enabled: 'turned on the key',
  key_disabled: 'turned off the key',
  key_disabled_by_plan: 'turned off, by leaving Pro, the key',
  key_deleted: 'deleted the key',
  person_added: 'added',
  person_invited: 'invited',
  person_deleted: 'deleted',
  person_link_made: 'made a sign-in link for',
  person_enabled: 'enabled',
  person_disabled: 'disabled',
  person_role_changed: 'changed the role of',
  person_sessions_ended: 'ended all sessions of',
  password_changed: 'changed the password of',
  single_sign_on_bound: 'signed in at the OpenID provider for the first time as',
  second_factor_on: 'turned on the second factor of',
  second_factor_off: 'turned off the second factor of',
  second_factor_reset: 'reset the second factor of',
  recovery_codes_renewed: 'made new recovery codes for',
  recovery_code_used: 'used a recovery code of',
  account_created: 'created the account',
  plan_changed: 'changed the plan of',
  address_renewed: 'made a new address for reports of',
  second_factor_required: 'required a second factor of everybody in',
  second_factor_optional: 'made the second factor optional in',
  domain_added: 'added the domain',
  domain_claimed: 'gave this account the domain',
  domain_paused: 'paused the domain',
  domain_resumed: 'resumed the domain',
  alert_fired: 'fired an alert of',
  alert_resolved: 'resolved an alert of',
  source_marked: 'marked the source',
} as const satisfies Record<AuditAction, string>;

const ACTORS: Readonly<Record<string, string>> = {
  operator: 'The operator',
  plumbline: 'Plumbline',
};

/** Who acted, by the name that people know. */
export function toActorName(actor: string): string {
  return toKnownWord(ACTORS, actor);
}

/** “created the key “nightly” plb_live_abcd…”. */
export function renderAction({ action, subject, detail }: AuditEntry): Html {
  return html`${VERBS[action]} <strong><bdi>“${toSafeText(subject)}”</bdi></strong>${renderDetail(action, detail)}`;
}

function renderDetail(action: AuditAction, detail: string): Html | string {
  if (detail === '') return '';
  if (action.startsWith('key_')) return html` <code>${detail}…</code>`;
  if (action.startsWith('alert_')) return `: ${findAlertTitle(detail)}`;
  if (action === 'plan_changed' || action === 'account_created')
    return ` (${toKnownWord(PLANS, detail)})`;
  return ` (${toSafeText(detail)})`;
}
