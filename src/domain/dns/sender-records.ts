import { addFound, type CheckState, UNCHECKED } from './daily-check.ts';
import type { KeyFound } from './dkim-key.ts';
import { toKeyName } from './dns-record.ts';

/* What DNS has for the mail of a domain's senders: SPF records and the keys of selectors. */

export interface SpfFound {
  /** null: there is none, or several. */
  readonly record: string | null;
  /** Terms that have receivers ask DNS, in all records that it includes, and those of them that DNS has nothing for. */
  readonly lookups: number;
  readonly voidLookups: number;
  readonly findings: readonly SpfFinding[];
}

export interface SpfFinding {
  readonly code:
    | ('missing' | 'several' | 'syntax' | 'too_many_lookups' | 'too_many_void_lookups')
    | ('no_record' | 'loop' | 'too_many_mx' | 'pass_all' | 'ptr');
  /** The term that it is about, or the name of the record. */
  readonly at: string;
}

/** Receivers give up after so many (RFC 7208, 4.6.4). */
export const [MAX_LOOKUPS, MAX_VOID_LOOKUPS] = [10, 2];

/** A name that reports have, and the domain's own. */
export interface SenderName {
  readonly domain: string;
  /** null: the name of an SPF record. */
  readonly selector: string | null;
  /** Whether messages passed with it: a stranger can make up any other. */
  readonly isProven: boolean;
}

interface Records<OfSpf, OfKey> {
  readonly spf: readonly (SenderName & OfSpf)[];
  readonly keys: readonly (SenderName & OfKey)[];
}

/** undefined of what no server answered. */
export type LookedRecords = Records<
  { readonly found: SpfFound | undefined },
  { readonly found: KeyFound | undefined }
>;

/** Names that reports have no more are forgotten. The domain's own is the first. */
export type SenderRecordsState = Records<CheckState<SpfFound>, CheckState<KeyFound>>;

export const isAnyAnswered = ({ spf, keys }: LookedRecords) =>
  [...spf, ...keys].some(({ found }) => found !== undefined);

/** A name that no server answered for is left as it is known. */
export function addLooked(
  state: SenderRecordsState | undefined,
  looked: LookedRecords,
  isAsked = false,
): SenderRecordsState {
  return {
    spf: addEach(state?.spf ?? [], looked.spf, isAsked),
    keys: addEach(state?.keys ?? [], looked.keys, isAsked),
  };
}

function addEach<Found>(
  known: readonly (SenderName & CheckState<Found>)[],
  looked: readonly (SenderName & { readonly found: Found | undefined })[],
  isAsked: boolean,
) {
  const byName = new Map(known.map((one) => [toSenderRecordName(one), one]));
  return looked.map(({ found, ...name }) => {
    const { candidate, confirmed } = byName.get(toSenderRecordName(name)) ?? UNCHECKED;
    const state = { candidate, confirmed };
    return { ...(found === undefined ? state : addFound(state, found, { isAsked })), ...name };
  });
}

/** What is said of them. */
export type ToldRecords = Records<
  { readonly confirmed: SpfFound | null },
  { readonly confirmed: KeyFound | null }
>;

export function toTold(state: SenderRecordsState | undefined): ToldRecords {
  const { spf = [], keys = [] } = state ?? {};
  return {
    spf: spf.map(({ candidate: _, ...one }) => one),
    keys: keys.map(({ candidate: _, ...one }) => one),
  };
}

/** Where the record of a name is. */
export const toSenderRecordName = ({ domain, selector }: Omit<SenderName, 'isProven'>) =>
  selector === null ? domain : toKeyName({ selector, domain });
