export const AUDIT_ACTIONS = {
  key: ['key_created', 'key_enabled', 'key_disabled', 'key_disabled_by_plan', 'key_deleted'],
  person: [
    'person_added',
    'person_invited',
    'person_deleted',
    'person_link_made',
    'person_enabled',
    'person_disabled',
    'person_role_changed',
    'person_sessions_ended',
    'password_changed',
    'single_sign_on_bound',
    'second_factor_on',
    'second_factor_off',
    'second_factor_reset',
    'recovery_codes_renewed',
    'recovery_code_used',
  ],
  account: [
    'account_created',
    'account_renamed',
    'plan_changed',
    'address_renewed',
    'second_factor_required',
    'second_factor_optional',
    'account_exported',
    'deletion_asked',
    'deletion_taken_back',
  ],
  domain: [
    'domain_added',
    'domain_claimed',
    'domain_ignored',
    'domain_paused',
    'domain_resumed',
    'domain_removed',
  ],
  alert: ['alert_fired', 'alert_resolved'],
  source: ['source_marked'],
  report: ['report_replaced', 'report_authenticated'],
  webhook: [
    'webhook_created',
    'webhook_enabled',
    'webhook_disabled',
    'webhook_disabled_by_plan',
    'webhook_disabled_as_gone',
    'webhook_disabled_as_failing',
    'webhook_rotated',
    'webhook_deleted',
    'webhook_tested',
    'delivery_resent',
  ],
} as const;

export type AuditKind = keyof typeof AUDIT_ACTIONS;
export type AuditAction = (typeof AUDIT_ACTIONS)[AuditKind][number];

export const AUDIT_KINDS = Object.keys(AUDIT_ACTIONS) as AuditKind[];

export function isAuditKind(text: string): text is AuditKind {
  return Object.hasOwn(AUDIT_ACTIONS, text);
}
