import { findWeakerTag, isSameRecord, type RecordType, type RecordValue } from './dns-record.ts';
import type { Instant } from './instant.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** What is known of one record. A value counts once two checks in a row have confirmed it. */
export interface DnsRecordState {
  /** null until a first value was confirmed. */
  readonly confirmed: { readonly value: RecordValue } | null;
  /** What checks have shown instead, since when. */
  readonly candidate: { readonly value: RecordValue; readonly since: Instant } | null;
  /** The change that `alert.dns_record_changed` is about. */
  readonly change: DnsChange | null;
  /** The change that `alert.policy_weakened` is about. */
  readonly weakening: DnsChange | null;
}

export interface DnsChange {
  /** Before the first of several changes that belong together. */
  readonly former: RecordValue;
  readonly current: RecordValue;
  /** When the last of them was confirmed. */
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

interface Limits {
  readonly dnsConfirmMinutes: number;
  readonly dnsChangeDays: number;
}

/** What is known after one more check that was answered; one that was not is as if it had not been. */
export function addCheck(state: DnsRecordState, check: Check, limits: Limits): DnsRecordState {
  const { confirmed, candidate } = state;
  if (confirmed !== null && isSameRecord(check.type, confirmed.value, check.value))
    return { ...state, candidate: null };
  if (candidate === null || !isSettled(state, check)) {
    return { ...state, candidate: { value: check.value, since: check.at } };
  }
  const waitedMs = Date.parse(check.at) - Date.parse(candidate.since);
  if (waitedMs < limits.dnsConfirmMinutes * MINUTE_MS) return state;
  const known = { ...state, candidate: null, confirmed: { value: check.value } };
  return confirmed === null
    ? known
    : addChange(known, { ...check, former: confirmed.value }, limits);
}

/** Two checks that differ from what was confirmed say that it has changed; for a first value they must agree. */
function isSettled({ confirmed, candidate }: DnsRecordState, { type, value }: Check): boolean {
  return confirmed !== null || isSameRecord(type, candidate?.value ?? null, value);
}

interface Change extends Check {
  readonly former: RecordValue;
}

function addChange(state: DnsRecordState, change: Change, limits: Limits): DnsRecordState {
  const { type, former, value } = change;
  if (type === 'dmarc') {
    const stronger = state.weakening?.former ?? former;
    const isWeaker = findWeakerTag(stronger, value) !== undefined;
    const goesDown = findWeakerTag(former, value) !== undefined;
    const weakening = isWeaker ? { former: stronger, current: value, at: change.at } : null;
    const isReturn = state.weakening !== null && isSameRecord(type, stronger, value);
    // A change of strength is the one alert's or the other's, never both's.
    if (goesDown || isReturn) return { ...state, weakening, change: endChange(state, change) };
    return { ...state, weakening, change: followChange(state, change, limits) };
  }
  return { ...state, change: followChange(state, change, limits) };
}

function endChange({ change }: DnsRecordState, { type, value }: Change): DnsChange | null {
  return change !== null && isSameRecord(type, change.former, value) ? null : change;
}

/** Changes less than a week apart belong together, until the value from before the first one returns. */
function followChange(state: DnsRecordState, made: Change, limits: Limits): DnsChange | null {
  const { type, value, at } = made;
  const open = state.change !== null && isRecent(state.change, at, limits) ? state.change : null;
  if (open !== null && isSameRecord(type, open.former, value)) return null;
  return { former: open === null ? made.former : open.former, current: value, at };
}

/** Whether less than the days that a changed record is told about have gone by. */
export function isRecent({ at }: DnsChange, now: Instant, { dnsChangeDays }: Limits): boolean {
  return Date.parse(now) - Date.parse(at) < dnsChangeDays * DAY_MS;
}
