import { outcomes } from './intake.ts';

/** How many documents of a source have each outcome. */
export async function countOutcomes(source: Uint8Array): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of await outcomes(source)) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}
