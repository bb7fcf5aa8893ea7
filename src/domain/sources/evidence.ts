import type { toAlignmentModes } from '../dns/dns-record.ts';
import type { ToOrganizationalDomain } from '../dns/organizational-domain.ts';
import type { DkimAuthResult } from '../reports/aggregate-report.ts';

/** What reporters said of some messages of a source. `null` means that it was not stated. */
export interface SeenMail {
  readonly headerFrom: string | null;
  readonly spf: {
    readonly domain: string | null;
    readonly result: string | null;
    /** Whether SPF passed for DMARC: the `policy_evaluated` result. */
    readonly isAligned: boolean;
  };
  readonly dkim: readonly Signature[];
  /** Whether a signature passed for DMARC: the `policy_evaluated` result. */
  readonly isDkimAligned: boolean;
  /** Whether the receiver says that the messages were forwarded: a reason to override the policy. */
  readonly isForwarded: boolean;
}

/** Messages that had the same results. */
export interface Evidence extends SeenMail {
  readonly messages: number;
}

/** The same, where thousands of sources share what was seen: what follows from it is found once. */
export interface Sighting<Seen = SeenMail> {
  readonly seen: Seen;
  readonly messages: number;
}

/** Messages with the same results, whoever reported them. */
export interface Results extends Evidence {
  /** Messages that passed DMARC: all or none. */
  readonly aligned: number;
  readonly disposition: string | null;
}

export type Signature = Omit<DkimAuthResult, 'humanResult'>;

export interface EvidenceContext {
  /** The monitored domain. */
  readonly domain: string;
  /** How the domain wants to be aligned, strictly or relaxed. */
  readonly modes: ReturnType<typeof toAlignmentModes>;
  readonly toOrganizationalDomain: ToOrganizationalDomain;
}

export interface Facts extends SeenMail {
  /** The domain that messages had in the header From: alignment is with it. */
  readonly from: string;
  /** The domain of the own organisation that SPF was checked for, whatever the result. */
  readonly spfDomain: string | undefined;
  /** The domain that SPF passed for without alignment, of another organisation. */
  readonly foreignSpf: string | undefined;
  /** The domain of the own organisation, other than `from`, that SPF passed for without alignment: it was strict. */
  readonly ownSpf: string | undefined;
  /** A signature that passed without alignment, of another organisation. */
  readonly foreignSignature: Signature | undefined;
  readonly ownSignature: Signature | undefined;
  /** What passed for `from` itself and was not counted by the receiver. */
  readonly uncounted: 'SPF' | 'DKIM' | undefined;
  /** All signatures of the own organisation. */
  readonly ownSignatures: readonly Signature[];
  /** A signature of the own organisation that did not pass. */
  readonly brokenSignature: Signature | undefined;
}

export function toFacts(
  seen: SeenMail,
  { domain, toOrganizationalDomain }: EvidenceContext,
): Facts {
  const { spf, dkim, isDkimAligned } = seen;
  // Some reporters state an empty name.
  const from = seen.headerFrom || domain;
  const isOwn = (name: string | null): name is string =>
    !!name && toOrganizationalDomain(name) === toOrganizationalDomain(from);
  const passed = isDkimAligned ? [] : dkim.filter(({ result }) => result === 'pass');
  const passedSpf = spf.result === 'pass' && !spf.isAligned ? spf.domain : null;
  const isSigned = passed.some((one) => one.domain === from);
  const ownSignatures = dkim.filter((one) => isOwn(one.domain) && one.result !== 'none');
  return {
    ...seen,
    from,
    spfDomain: isOwn(spf.domain) ? spf.domain : undefined,
    foreignSpf: !passedSpf || isOwn(passedSpf) ? undefined : passedSpf,
    ownSpf: isOwn(passedSpf) && passedSpf !== from ? passedSpf : undefined,
    foreignSignature: passed.find((one) => !!one.domain && !isOwn(one.domain)),
    ownSignature: passed.find((one) => isOwn(one.domain) && one.domain !== from),
    uncounted: isSigned ? 'DKIM' : passedSpf === from ? 'SPF' : undefined,
    ownSignatures,
    brokenSignature: ownSignatures.find(({ result }) => result !== 'pass'),
  };
}
