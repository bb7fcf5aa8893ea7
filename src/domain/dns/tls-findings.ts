import type { LookedTls } from '../tls/tls-check.ts';
import type { StsPolicyFinding } from './sts-policy.ts';
import type { StsRecordFinding, TlsRecordFinding } from './tls-records.ts';

export interface TlsFinding {
  readonly check: 'tls_record' | 'sts_record' | 'policy_file';
  readonly code: TlsRecordFinding | StsRecordFinding | StsPolicyFinding | 'no_answer';
  /** What was found, and what to do. */
  readonly text: string;
}

interface Asked {
  readonly domain: string;
  /** The address at which we take reports. */
  readonly address: string;
}

/** What is wrong, as texts for a person. */
export function toTlsFindings({ record, sts }: LookedTls, asked: Asked): readonly TlsFinding[] {
  const told = (check: TlsFinding['check'], codes: readonly TlsFinding['code'][]) =>
    codes.map((code) => ({ check, code, text: toText(check, code, asked) }));
  return [
    ...told('tls_record', record?.findings ?? NO_ANSWER),
    ...told('sts_record', sts === undefined ? NO_ANSWER : (sts?.recordFindings ?? [])),
    ...told('policy_file', sts?.fileFindings ?? []),
  ];
}

const NO_ANSWER = ['no_answer'] as const;

function toText(check: TlsFinding['check'], code: TlsFinding['code'], asked: Asked): string {
  const { domain, address } = asked;
  const at = check === 'tls_record' ? `_smtp._tls.${domain}` : `_mta-sts.${domain}`;
  const file = `https://mta-sts.${domain}/.well-known/mta-sts.txt`;
  const record = `v=TLSRPTv1; rua=mailto:${address}`;
  const texts: Record<TlsFinding['code'], string> = {
    no_answer: `No DNS server answered for the TXT record of ${at}.`,
    missing: `Nobody sends TLS reports about ${domain}. Publish a TXT record at ${at}: ${record}`,
    old_name: `There is a record at _smtp-tlsrpt.${domain}, where no sender looks. Publish it at ${at}.`,
    several: `There are several records at ${at}, so senders ignore all of them. Leave one.`,
    bad_version: `The record at ${at} begins with another version than v=TLSRPTv1; as it is written here.`,
    no_rua: `The record at ${at} has no rua tag. Add to it: rua=mailto:${address}`,
    bad_rua: `An address in the rua tag at ${at} does not begin with mailto: or https:.`,
    not_to_us: `The record at ${at} asks for no reports to Plumbline. Add to its rua tag, after a comma: mailto:${address}`,
    id_not_changed: `The policy file was changed, and the id at ${at} was not, so senders keep the former file. Change the id.`,
    bad_id: `The id of the record at ${at} is not 1 to 32 letters and digits, so senders ignore MTA-STS.`,
    unreachable: `${file} did not answer at a public address. Look at DNS, AAAA too, and at port 443.`,
    bad_certificate: `The certificate of mta-sts.${domain} is not valid for that name. Renew it.`,
    redirect: `${file} answers with a redirect, which senders do not follow.`,
    status: `${file} does not answer with status 200.`,
    too_large: `${file} has more than 64 KiB.`,
    invalid: `${file} is no valid policy. It has the lines version: STSv1, mode, mx and max_age, and nothing that is no field.`,
    not_text: `${file} is not sent as text/plain, which some senders insist on.`,
    short_max_age: `The max_age of ${file} is under a day. Weeks protect better: 604800 and more.`,
    mx_not_covered: `An MX of ${domain} matches no mx line of ${file}. In the mode enforce, senders do not deliver there.`,
  };
  return texts[code];
}
