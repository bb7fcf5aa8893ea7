import { addPatterns } from '../../domain/sources/day-sources.ts';
import { toMailResults } from '../../domain/sources/mail-results.ts';
import type { Reader } from '../engine/reader.ts';
import { type RangeQuery, sumRange } from './summed-range.ts';

export async function readResults(reader: Reader, query: RangeQuery) {
  const { summed, counted } = await sumRange(reader, query);
  const patterns = new Map<string, number>();
  for (const source of summed.sources.values()) addPatterns(patterns, source.patterns);
  return { ...toMailResults(patterns, summed.reporters), counted };
}
