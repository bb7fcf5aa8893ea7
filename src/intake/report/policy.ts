import { parseDomainName } from '../../domain/domain-name.ts';
import type { PolicyPublished } from '../../domain/reports/aggregate-report.ts';
import type { Element } from '../document/element.ts';

const POLICY = /^(?:none|quarantine|reject)$/i;
const ALIGNMENT = /^[rs]$/i;
const FAILURE_OPTIONS = /^[01ds](?:\s*:\s*[01ds])*$/i;
const YES_OR_NO = /^[yn]$/i;
const DISCOVERY = /^(?:psl|treewalk)$/i;
const WHOLE_NUMBER = /^\d{1,9}$/;

/** `policy_published`. Only the domain is required. */
export function toPolicyPublished(policy: Element): PolicyPublished {
  return {
    domain: toDomain(policy),
    p: toWord(policy, 'p', POLICY),
    sp: toWord(policy, 'sp', POLICY),
    np: toWord(policy, 'np', POLICY),
    adkim: toWord(policy, 'adkim', ALIGNMENT),
    aspf: toWord(policy, 'aspf', ALIGNMENT),
    pct: toPct(policy),
    fo: toWord(policy, 'fo', FAILURE_OPTIONS),
    testing: toWord(policy, 'testing', YES_OR_NO),
    discoveryMethod: toWord(policy, 'discovery_method', DISCOVERY),
  };
}

function toDomain(policy: Element): string {
  const text = policy.value('domain');
  const element = policy.child('domain');
  if (text === null)
    throw element.refusal('missing_domain', 'The report does not say which domain it is about.');
  const domain = parseDomainName(text, 1);
  // A registry may publish a policy for names below it that have none (psd=y, RFC 9989).
  if (domain?.includes('.') === false) element.warn('public_suffix_policy');
  if (domain !== undefined) return domain;
  throw element.refusal('bad_field', 'The domain of the policy is not a domain name.');
}

/** A known word in lower case; an unknown word as sent. */
function toWord(policy: Element, name: string, known: RegExp): string | null {
  const text = policy.value(name);
  if (text === null || known.test(text)) return text?.toLowerCase() ?? null;
  policy.child(name).warn('unknown_policy_word');
  return text;
}

function toPct(policy: Element): number | null {
  const text = policy.value('pct');
  if (text === null) return null;
  const pct = WHOLE_NUMBER.test(text) ? Number(text) : null;
  if (pct === null || pct > 100) policy.child('pct').warn('invalid_pct');
  return pct;
}
