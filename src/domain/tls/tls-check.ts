import { isDeepStrictEqual } from 'node:util';
import { addFound, type CheckState, UNCHECKED } from '../dns/daily-check.ts';
import type { StsPolicy, StsPolicyFinding } from '../dns/sts-policy.ts';
import type { StsRecordFinding, TlsRecordFinding } from '../dns/tls-records.ts';
import type { Instant } from '../instant.ts';

/** What DNS, and the host of the policy file, say of a domain's TLS reports and MTA-STS (RFC 8460, 3; RFC 8461, 3). */
export interface TlsCheck {
  readonly record: {
    /** null: there is none, or several. */
    readonly value: string | null;
    readonly findings: readonly TlsRecordFinding[];
  };
  /** null: the domain has no MTA-STS, which is no fault. */
  readonly sts: StsCheck | null;
}

export interface StsCheck {
  /** Of the record; null where it has none that is valid. */
  readonly id: string | null;
  readonly recordFindings: readonly StsRecordFinding[];
  /** null: it was not fetched, or is not valid. */
  readonly policy: StsPolicy | null;
  readonly fileFindings: readonly StsPolicyFinding[];
}

export type TlsCheckState = CheckState<TlsCheck>;

export interface CheckedTls extends TlsCheck {
  /** When the last check got an answer. */
  readonly checkedAt: Instant;
}

/** Of the record and of the file. */
export function listStsFindings({ sts }: Pick<TlsCheck, 'sts'>) {
  return sts === null ? [] : [...sts.recordFindings, ...sts.fileFindings];
}

/** A check; undefined of what no server answered. */
export type LookedTls = { readonly [Part in keyof TlsCheck]: TlsCheck[Part] | undefined };

/** A check without an answer leaves what is known as it is. */
export const isAnswered = (looked: LookedTls): looked is TlsCheck =>
  looked.record !== undefined && looked.sts !== undefined;

/** `isAsked`: a person asked, and is told what was found at once. */
export function addTlsCheck(
  state: TlsCheckState = UNCHECKED,
  check: TlsCheck,
  isAsked = false,
): TlsCheckState {
  const { candidate, confirmed } = addFound(state, check, { isAsked, isSame });
  return { candidate, confirmed: confirmed === check ? noteId(check, state.confirmed) : confirmed };
}

const isSame = (a: TlsCheck, b: TlsCheck) => isDeepStrictEqual(withoutNote(a), withoutNote(b));

/** Senders keep the former file until the id is another one (RFC 8461, 3.1). */
function noteId(check: TlsCheck, former: TlsCheck | null): TlsCheck {
  const { sts } = check;
  const before = former?.sts;
  if (!sts?.policy || !before?.policy || sts.id !== before.id) return check;
  if (isDeepStrictEqual(sts.policy, before.policy)) return check;
  return { ...check, sts: { ...sts, recordFindings: [...sts.recordFindings, 'id_not_changed'] } };
}

function withoutNote({ record, sts }: TlsCheck): TlsCheck {
  const recordFindings = sts?.recordFindings.filter((one) => one !== 'id_not_changed') ?? [];
  return { record, sts: sts && { ...sts, recordFindings } };
}
