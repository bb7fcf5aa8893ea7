import { addDays, type Instant, toDay } from '../domain/instant.ts';
import { type ReadingStore, readStored } from '../judging/reads.ts';
import { sortFailing } from '../judging/source-list.ts';
import { type Counted, sumRange } from '../judging/summed-range.ts';
import { planState } from '../store/days/believed.ts';
import { unexpired } from '../store/days/names.ts';
import { planNewestDay } from '../store/days/views.ts';
import { ask, type Reader } from '../store/engine/reader.ts';

/** Unexpired names of a domain, including addresses without a name. With so many, the job looks up no more. */
const MAX_NAMES = 5_000;
/** Addresses are looked up when they sent something in so many days, up to the newest day that has data. */
const DAYS = 30;

type UnnamedQuery = { readonly domainId: string; readonly now: Instant; readonly limit: number };

/** The addresses whose names are not known or have expired, those with most failed messages first. */
export async function listUnnamed(store: ReadingStore, query: UnnamedQuery) {
  return (await readStored(store, import.meta.url, [findUnnamed, query])).addresses;
}

/** @internal The reader's thread finds it by its name. */
export async function findUnnamed(
  reader: Reader,
  { domainId, now, limit }: UnnamedQuery,
): Promise<Counted & { readonly addresses: readonly string[] }> {
  const today = toDay(now);
  const [newest, known] = await reader.readPlan(function* () {
    const { reporters: view } = yield* planState({ domainId, today });
    const newest = yield* planNewestDay({ domainId, view });
    return [newest, yield* ask(unexpired({ domainId, now, limit: MAX_NAMES }))] as const;
  });
  if (newest === undefined || known.length >= MAX_NAMES) return { addresses: [] };
  const range = { from: addDays(newest, 1 - DAYS), to: newest };
  const { summed, counted } = await sumRange(reader, { domainId, range, today });
  const isKnown = new Set(known.map(({ address }) => address));
  const unnamed = [...summed.sources.values()].filter(({ address }) => !isKnown.has(address));
  return { addresses: sortFailing(unnamed, limit).map(({ address }) => address), counted };
}
