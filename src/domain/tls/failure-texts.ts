import type { ResultType, TlsMode } from '../reports/tls-report.ts';
import { formatDomainName, toSafeText } from '../text.ts';

/* What a failure of TLS means to the owner of a domain, and what to do. Names and reasons are strangers' texts. */

/** What became of the mail. `withdrawn`: the policy is, so nothing is to be done. */
export type TlsEffect = 'not_delivered' | 'testing' | 'perhaps_unencrypted' | 'withdrawn';

interface Applied {
  readonly policyType: string | null;
  readonly mode: TlsMode | null;
}

const EFFECTS_OF_MODES = {
  enforce: 'not_delivered',
  testing: 'testing',
  none: 'withdrawn',
} as const satisfies Record<TlsMode, TlsEffect>;

export function toEffect({ policyType, mode }: Applied): TlsEffect {
  if (policyType === 'tlsa') return 'not_delivered';
  return policyType === 'no-policy-found' || mode === null
    ? 'perhaps_unencrypted'
    : EFFECTS_OF_MODES[mode];
}

export const EFFECT_TEXTS: Readonly<Record<TlsEffect, string>> = {
  not_delivered:
    'These senders did not deliver over this host: they wait, try others, and return the mail if this lasts.',
  testing: 'The mail came; it would not under enforce.',
  perhaps_unencrypted: 'The mail came, perhaps unencrypted.',
  withdrawn: 'The policy is withdrawn, so there is nothing to do.',
};

interface FailureNames {
  /** undefined where nobody needs to be told. */
  readonly domain?: string;
  readonly mxHost: string | null;
  readonly reporter: string;
  readonly reason: string | null;
}

/** What failed in one sentence, and the next step. */
export function describeFailure(resultType: string, names: FailureNames, mode: TlsMode | null) {
  const known = RESULTS[resultType as ResultType] ?? toUnknown(resultType);
  const [sentence, step] = known(toTexts(names));
  return {
    sentence: sentence.replace(/^a mail server/, 'A mail server'),
    step: mode === 'enforce' ? `${step} ${WAY_OUT}` : step,
  };
}

const WAY_OUT =
  'If that takes longer than an hour: set mode: testing in the policy file and change the id at _mta-sts. Senders keep the old policy until they see the new id and can fetch the file.';

type Texts = Readonly<Record<'host' | 'policyHost' | 'policyFile' | 'reporter' | 'why', string>>;
type Told = readonly [sentence: string, step: string];

function toTexts({ domain, mxHost, reporter, reason }: FailureNames): Texts {
  const name = domain === undefined ? 'the domain' : formatDomainName(domain);
  return {
    policyHost: domain === undefined ? 'the host mta-sts' : `mta-sts.${name}`,
    policyFile:
      domain === undefined ? 'the policy file' : `https://mta-sts.${name}/.well-known/mta-sts.txt`,
    host: mxHost === null ? `a mail server of ${name}` : toSafeText(mxHost),
    reporter: toSafeText(reporter),
    why: reason === null ? '' : `: ${toSafeText(reason)}`,
  };
}

/** A type that the standard lacks, or none. */
const toUnknown =
  (resultType: string) =>
  ({ host, why }: Texts): Told => [
    resultType === 'unknown'
      ? `TLS with ${host} failed, and reports do not say why${why}.`
      : `TLS with ${host} failed (${toSafeText(resultType)})${why}.`,
    'See whether port 25 of the MX hosts offers STARTTLS with a valid certificate.',
  ];

const RESULTS: Readonly<Record<ResultType, (texts: Texts) => Told>> = {
  'starttls-not-supported': ({ host }) => [
    `${host} did not offer STARTTLS.`,
    `See whether port 25 of ${host} offers STARTTLS from outside; a firewall that inspects SMTP may remove it.`,
  ],
  'certificate-host-mismatch': ({ host }) => [
    `The certificate of ${host} is for another name.`,
    'Issue one that has the MX name in its subject alternative names, or correct the MX.',
  ],
  'certificate-expired': ({ host }) => [
    `The certificate of ${host} has expired.`,
    'Renew it, reload the mail server, and automate both.',
  ],
  'certificate-not-trusted': ({ host }) => [
    `Senders do not trust the certificate of ${host}.`,
    'Serve the whole chain, from a public CA.',
  ],
  'validation-failure': ({ host, why }) => [
    `TLS with ${host} failed${why}.`,
    `Is ${host} in the policy’s mx lines? If so, look at its certificate and chain. If these are few failures of one sender, wait.`,
  ],
  'tlsa-invalid': ({ host }) => [
    `No TLSA record of ${host} matches its certificate.`,
    'Publish the record of the new key before the certificate changes; until then restore the old one.',
  ],
  'dnssec-invalid': ({ host }) => [
    `DNS answers for ${host} fail DNSSEC.`,
    'Renew the zone’s signatures, and compare the DS at the parent.',
  ],
  'dane-required': ({ host, reporter }) => [
    `${reporter} insists on DANE, and ${host} has none.`,
    `That is an agreement with ${reporter}: publish TLSA records, or end it.`,
  ],
  'sts-policy-fetch-error': ({ policyFile }) => [
    'The policy file could not be fetched.',
    `Open ${policyFile} from outside: DNS (AAAA too), certificate, 200, no redirect, no robot check.`,
  ],
  'sts-policy-invalid': () => [
    'The policy file is not valid.',
    'Correct what the check of the policy file names, then change the id at _mta-sts.',
  ],
  'sts-webpki-invalid': ({ policyHost }) => [
    `The certificate of ${policyHost} is not valid.`,
    'Renew it for that name: it is the web server’s, not the mail server’s.',
  ],
};
