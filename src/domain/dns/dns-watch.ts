import type { Thresholds } from '../alerts/thresholds.ts';
import { DAY_MS, type Instant } from '../instant.ts';
import { findWeakerTag, isSameRecord, type RecordType, type RecordValue } from './dns-record.ts';
import { type KnownRecord, toHeld } from './held-policy.ts';

const MINUTE_MS = 60_000;

/** The state of one record. A value counts once two checks in a row have confirmed it. */
export interface DnsRecordState {
  /** null until a first value was confirmed. */
  readonly confirmed: KnownRecord | null;
  /** A different value that checks have returned, and since when. */
  readonly candidate: (KnownRecord & { readonly since: Instant }) | null;
  /** The change that `alert.dns_record_changed` is about. */
  readonly change: DnsChange | null;
  /** The change that `alert.policy_weakened` is about. */
  readonly weakening: DnsChange | null;
}

export interface DnsChange {
  /** The value before the first of several changes that belong together. */
  readonly former: RecordValue;
  readonly current: RecordValue;
  /** What receivers went by before and since, where that is the record of a domain above. */
  readonly held?: { readonly former: RecordValue; readonly current: RecordValue };
  /** When the last of these changes was confirmed. */
  readonly at: Instant;
}

export const UNKNOWN_RECORD: DnsRecordState = {
  confirmed: null,
  candidate: null,
  change: null,
  weakening: null,
};

interface Check extends KnownRecord {
  readonly type: RecordType;
  readonly at: Instant;
}

type Limits = Pick<Thresholds, 'dnsConfirmMinutes' | 'dnsChangeDays'>;

/** The state after one more check that got an answer. A check without an answer leaves the state as it is. */
export function addCheck(state: DnsRecordState, check: Check, limits: Limits): DnsRecordState {
  const { confirmed, candidate } = state;
  const { type, value, inherited, at } = check;
  const found = { value, ...(inherited && { inherited }) };
  const isSame = (known: KnownRecord) => isSameRecord(type, toHeld(known), toHeld(found));
  if (confirmed !== null && isSame(confirmed)) return { ...state, candidate: null };
  // Two checks that differ from the confirmed value show a change. A first value needs two checks that agree.
  const isSettled = candidate !== null && (confirmed !== null || isSame(candidate));
  if (!isSettled) return { ...state, candidate: { ...found, since: at } };
  const waitedMs = Date.parse(at) - Date.parse(candidate.since);
  if (waitedMs < limits.dnsConfirmMinutes * MINUTE_MS) return state;
  const known = { ...state, candidate: null, confirmed: found };
  if (confirmed === null) return known;
  const held = { former: toHeld(confirmed), current: toHeld(found) };
  return addChange(known, { ...check, former: confirmed.value, held }, limits);
}

interface Change extends Check {
  readonly former: RecordValue;
  readonly held: NonNullable<DnsChange['held']>;
}

function addChange(state: DnsRecordState, change: Change, limits: Limits): DnsRecordState {
  const { type, former, value, held, at } = change;
  const followed = { ...state, change: followChange(state, change, limits) };
  if (type !== 'dmarc') return followed;
  const before = state.weakening?.former ?? former;
  const stronger = state.weakening === null ? held.former : toHeldBefore(state.weakening);
  const isWeaker = findWeakerTag(stronger, held.current) !== undefined;
  const goesDown = findWeakerTag(held.former, held.current) !== undefined;
  const isOwn = before === stronger && value === held.current;
  const since = { former: before, current: value, at };
  const of = isOwn ? since : { ...since, held: { former: stronger, current: held.current } };
  const weakening = isWeaker ? of : null;
  const isReturn = state.weakening !== null && isSameRecord(type, stronger, held.current);
  // A change of strength belongs to exactly one of the two alerts.
  if (goesDown || isReturn) return { ...state, weakening, change: endChange(state, change) };
  return { ...followed, weakening };
}

const toHeldBefore = ({ held, former }: DnsChange) => (held === undefined ? former : held.former);

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
