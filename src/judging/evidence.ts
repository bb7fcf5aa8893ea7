import { addDays, type DayRange } from '../domain/instant.ts';
import { remember } from '../domain/remember.ts';
import { sortFirst } from '../domain/sort.ts';
import type { Reader } from '../store/engine/reader.ts';
import { readSourcesState, sortFailing, toTotals } from './source-list.ts';
import {
  type ScopedQuery,
  type SentOn,
  type SourceSum,
  type SummedRange,
  sumRange,
} from './summed-range.ts';

/*
 * What addresses sent in a range, and what says who they are: the results of the 30 days up to its end. A shorter range
 * says too little: yesterday alone does not say that a signature that broke yesterday was good before.
 */

const EVIDENCE_DAYS = 30;

export function toEvidenceRange({ to }: DayRange): DayRange {
  return { from: addDays(to, 1 - EVIDENCE_DAYS), to };
}

/** Addresses that are judged: those with most failed messages. Only a flood has more in a month. */
export const MAX_JUDGED = 20_000;

/** Patterns of an address, those with most messages, and of all addresses: a stranger can make up any number of them. */
const MAX_OF_SOURCE = 32;
const MAX_PATTERNS = 100_000;

/** Messages of an address by the places of their patterns among the texts. */
type Patterns = readonly (readonly [place: number, messages: number])[];

export interface KnownSource extends Omit<SourceSum, 'patterns' | 'sent'> {
  readonly patterns: Patterns;
}

/** What an address of the range sent on its days, where that is asked for. */
export interface DailySource extends Omit<SourceSum, 'patterns' | 'sent'> {
  readonly sent: readonly (Omit<SentOn, 'failed'> & { readonly failed: Patterns })[];
}

interface EvidenceQuery extends ScopedQuery {
  readonly isDaily?: boolean;
}

/** Throws `not_found` when the account has no such domain. */
export async function readEvidence(reader: Reader, query: EvidenceQuery) {
  const { scope, range, today, isDaily } = query;
  const state = await readSourcesState(reader, scope, today);
  const month = toEvidenceRange(range);
  const read = (of: DayRange) => sumRange(reader, { ...scope, range: of, today }, state);
  const shown = await read(range);
  const proof = month.from === range.from ? shown : await read(month);
  const sources = sortFailing([...shown.summed.sources.values()], MAX_JUDGED);
  const { texts, placeOf } = createPlaces();
  const known = toKnown(proof.summed, sources, placeOf);
  const toPlaces = (sent: SentOn): DailySource['sent'][number] => {
    return { ...sent, failed: [...sent.failed].map(([text, count]) => [placeOf(text), count]) };
  };
  const counted = shown.counted && {
    ...shown.counted,
    days: [...shown.counted.days, ...(proof.counted?.days ?? [])],
  };
  return {
    ...state,
    ...toTotals(shown.summed),
    // Thousands of patterns take longer to hand over than the rest of a source.
    sources: sources.map(({ patterns, sent, ...source }): DailySource => {
      return { ...source, sent: isDaily ? sent.map(toPlaces) : [] };
    }),
    texts,
    known,
    byReporter: shown.summed.reporters,
    reporterDays: shown.summed.reporterDays,
    counted: counted ?? proof.counted,
  };
}

/** Texts, each once, and the place of each. */
function createPlaces() {
  const texts: string[] = [];
  const placeOf = remember((text: string) => texts.push(text) - 1);
  return { texts, placeOf };
}

/** The addresses of the month, and those of the range that sent nothing in it. */
function toKnown(
  proof: SummedRange,
  sources: readonly SourceSum[],
  placeOf: (text: string) => number,
): readonly KnownSource[] {
  const month = sortFailing([...proof.sources.values()], MAX_JUDGED);
  const addresses = new Set(month.map(({ address }) => address));
  const others = sources.filter(({ address }) => !addresses.has(address));
  let left = MAX_PATTERNS;
  return [...month, ...others].map(({ sent, ...source }): KnownSource => {
    // A source of a range has the evidence of the month.
    const { patterns } = proof.sources.get(source.address) ?? source;
    const kept = sortFirst([...patterns], ([, a], [, b]) => b - a, left > 0 ? MAX_OF_SOURCE : 1);
    left -= kept.length;
    return { ...source, patterns: kept.map(([text, messages]) => [placeOf(text), messages]) };
  });
}
