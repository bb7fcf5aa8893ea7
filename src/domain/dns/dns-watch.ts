import type { Thresholds } from '../alerts/thresholds.ts';
import { DAY_MS, type Instant } from '../instant.ts';
import { findWeakerTag, isSameRecord, type RecordType, type RecordValue } from './dns-record.ts';

const MINUTE_MS = 60_000;

/** The state of one record. A value counts once two checks in a row have confirmed it. */
export interface DnsRecordState {
  /** null until a first value was confirmed. */
  readonly confirmed: { readonly value: RecordValue } | null;
  /** A different value that checks have returned, and since when. */
  readonly candidate: { readonly value: RecordValue; readonly since: Instant } | null;
  /** The change that `alert.dns_record_changed` is about. */
  readonly change: DnsChange | null;
  /** The change that `alert.policy_weakened` is about. */
  readonly weakening: DnsChange | null;
}

export interface DnsChange {
  /** The value before the first of several changes that belong together. */
  readonly former: RecordValue;
  readonly current: RecordValue;
  /** When the last of these changes was confirmed. */
  readonly at: Instant;
}

export const UNKNOWN_RECORD: DnsRecordState = {
  confirmed: null,
  candidate: null,
  change: null,
  weakening: null,
};

interface Check {
  readonly type: RecordType;
  readonly value: RecordValue;
  readonly at: Instant;
}

type Limits = Pick<Thresholds, 'dnsConfirmMinutes' | 'dnsChangeDays'>;

/** The state after one more check that got an answer. A check without an answer leaves the state as it is. */
export function addCheck(state: DnsRecordState, check: Check, limits: Limits): DnsRecordState {
  const { confirmed, candidate } = state;
  if (confirmed !== null && isSameRecord(check.type, confirmed.value, check.value))
    return { ...state, candidate: null };
  // Two checks that differ from the confirmed value show a change. A first value needs two checks that agree.
  const isSettled =
    candidate !== null &&
    (confirmed !== null || isSameRecord(check.type, candidate.value, check.value));
  if (!isSettled) return { ...state, candidate: { value: check.value, since: check.at } };
  const waitedMs = Date.parse(check.at) - Date.parse(candidate.since);
  if (waitedMs < limits.dnsConfirmMinutes * MINUTE_MS) return state;
  const known = { ...state, candidate: null, confirmed: { value: check.value } };
  return confirmed === null
    ? known
    : addChange(known, { ...check, former: confirmed.value }, limits);
}

interface Change extends Check {
  readonly former: RecordValue;
}

function addChange(state: DnsRecordState, change: Change, limits: Limits): DnsRecordState {
  const { type, former, value } = change;
  const followed = { ...state, change: followChange(state, change, limits) };
  if (type !== 'dmarc') return followed;
  const stronger = state.weakening?.former ?? former;
  const isWeaker = findWeakerTag(stronger, value) !== undefined;
  const goesDown = findWeakerTag(former, value) !== undefined;
  const weakening = isWeaker ? { former: stronger, current: value, at: change.at } : null;
  const isReturn = state.weakening !== null && isSameRecord(type, stronger, value);
  // A change of strength belongs to exactly one of the two alerts.
  if (goesDown || isReturn) return { ...state, weakening, change: endChange(state, change) };
  return { ...followed, weakening };
}

function endChange({ change }: DnsRecordState, { type, value }: Change): DnsChange | null {
  return change !== null && isSameRecord(type, change.former, value) ? null : change;
}

/** Changes less than `dnsChangeDays` apart belong together until the value from before the first one returns. */
function followChange(state: DnsRecordState, made: Change, limits: Limits): DnsChange | null {
  const { type, value, at } = made;
  const open = state.change !== null && isRecent(state.change, at, limits) ? state.change : null;
  if (open !== null && isSameRecord(type, open.former, value)) return null;
  return { former: open === null ? made.former : open.former, current: value, at };
}

/** Whether the change is younger than the days for which its alert stays open. */
export function isRecent({ at }: DnsChange, now: Instant, { dnsChangeDays }: Limits): boolean {
  return Date.parse(now) - Date.parse(at) < dnsChangeDays * DAY_MS;
}
