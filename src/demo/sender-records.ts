import type { LookedRecords } from '../domain/dns/sender-records.ts';
import { DOMAINS } from './traffic.ts';

/** The key of the invoicing tool, which was never published (traffic.ts). */
const MISSING = 'inv1';

/** What checks have found of the records of a demo's domain: one key of one domain is missing. */
export function toLookedRecords(domain: string): LookedRecords {
  const record = 'v=spf1 ip4:192.0.2.0/24 include:_spf.mail.example ~all';
  const spf = { record, lookups: 3, voidLookups: 0, findings: [] };
  const missing = { state: 'missing', bits: null, findings: [] } as const;
  const key = { state: 'found', bits: 2048, findings: [] } as const;
  const { sources = [] } = DOMAINS.find(({ name }) => name === domain) ?? {};
  const signatures = sources.flatMap(({ signature }) => (signature ? [signature] : []));
  const own = signatures.filter(([name]) => name === domain).map(([, selector]) => selector);
  const name = { domain, isProven: true };
  return {
    spf: [{ ...name, selector: null, found: spf }],
    keys: [...new Set(own)].map((selector) => {
      return { ...name, selector, found: selector === MISSING ? missing : key };
    }),
  };
}
