/** What is done in an account, by what it is done to: each action as pages and exports say it, between the actor and the subject. */
export const AUDIT_ACTIONS = {
  key: {
    key_created: 'created the key',
    key_enabled: 'turned on the key',
    key_disabled: 'turned off the key',
    key_disabled_by_plan: 'turned off, by leaving Pro, the key',
    key_deleted: 'deleted the key',
  },
  person: {
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
  },
  account: {
    account_created: 'created the account',
    account_renamed: 'renamed the account to',
    plan_changed: 'changed the plan of',
    address_renewed: 'made a new address for reports of',
    second_factor_required: 'required a second factor of everybody in',
    second_factor_optional: 'made the second factor optional in',
    account_exported: 'downloaded all data of',
    deletion_asked: 'asked for the deletion of',
    deletion_taken_back: 'took back the deletion of',
  },
  domain: {
    domain_added: 'added the domain',
    domain_claimed: 'gave this account the domain',
    domain_ignored: 'ignored the proposed domain',
    domain_paused: 'paused the domain',
    domain_resumed: 'resumed the domain',
    domain_removed: 'removed the domain',
    domain_sends_no_mail: 'said that no mail is sent by the domain',
    domain_sends_mail: 'said that mail is sent by the domain',
  },
  alert: {
    alert_fired: 'fired an alert of',
    alert_resolved: 'resolved an alert of',
  },
  source: {
    source_marked: 'marked the source',
  },
  report: {
    report_replaced: 'preferred, because its mail was authenticated, another report of',
    report_authenticated: 'took as authenticated, because it came again, a report of',
    reports_uploaded: 'uploaded files with reports to',
    reports_aged: 'deleted, because they were older than they are kept,',
    reporter_new: 'took in the first report of the new reporter',
  },
  webhook: {
    webhook_created: 'made the webhook to',
    webhook_enabled: 'turned on the webhook to',
    webhook_disabled: 'turned off the webhook to',
    webhook_disabled_by_plan: 'turned off, by leaving Pro, the webhook to',
    webhook_disabled_as_gone: 'turned off, because it answered 410, the webhook to',
    webhook_disabled_as_failing: 'turned off, because it failed for five days, the webhook to',
    webhook_rotated: 'made a new secret for the webhook to',
    webhook_deleted: 'deleted the webhook to',
    webhook_tested: 'sent a test to',
    delivery_resent: 'sent an event again to',
  },
} as const;

export type AuditKind = keyof typeof AUDIT_ACTIONS;
export type AuditAction = { [K in AuditKind]: keyof (typeof AUDIT_ACTIONS)[K] }[AuditKind];

export const AUDIT_KINDS = Object.keys(AUDIT_ACTIONS) as AuditKind[];

export const AUDIT_VERBS: Readonly<Record<AuditAction, string>> = Object.assign(
  {},
  ...Object.values(AUDIT_ACTIONS),
);

export function isAuditKind(text: string): text is AuditKind {
  return Object.hasOwn(AUDIT_ACTIONS, text);
}
