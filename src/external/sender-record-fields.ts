import type { components } from '../../generated/v1.d.ts';
import { describeListed, describeSpf } from '../domain/dns/sender-record-texts.ts';
import type { ToldRecords } from '../domain/dns/sender-records.ts';
import type { toSenderRecords } from '../store/alerts/daily-checks.ts';

type Schemas = components['schemas'];

/** What daily checks found of the records of a domain's senders, and what to do. */
export function toSenderRecordFields(
  domain: string,
  { spf, keys, checkedAt }: ReturnType<typeof toSenderRecords>,
): Schemas['SenderRecords'] {
  const [own, ...others] = spf.map(toSpf);
  return {
    spf: own ?? toSpf({ domain, confirmed: null }),
    spf_of_envelopes: others,
    dkim_keys: keys.map(toKey),
    checked_at: checkedAt,
  };
}

type Spf = ToldRecords['spf'][number];

function toSpf({ domain, confirmed }: Pick<Spf, 'domain' | 'confirmed'>): Schemas['SpfRecord'] {
  const { record = null, lookups = null, voidLookups = null, findings = [] } = confirmed ?? {};
  return {
    ...{ domain, record, lookups, void_lookups: voidLookups },
    findings: findings.map(({ code }) => code),
    text: confirmed && toText(describeSpf(domain, confirmed)),
  };
}

function toKey(key: ToldRecords['keys'][number]): Schemas['DkimKey'] {
  const { domain, selector, confirmed } = key;
  const { state = 'unknown', bits = null, findings = [] } = confirmed ?? {};
  return {
    ...{ domain, selector: selector ?? '', is_proven: key.isProven, state, bits },
    findings: [...findings],
    text: confirmed && toText(describeListed(key, confirmed)),
  };
}

const MAX_CHARS = 4_000;
const toText = (texts: readonly string[]) => texts.join(' ').slice(0, MAX_CHARS) || null;
