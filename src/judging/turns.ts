import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { InParts } from '../domain/in-parts.ts';

const TURN_MS = 10;

/** Other requests have their turns between the parts: to judge 20,000 addresses takes half a second. */
export async function runInTurns<Found>(work: InParts<Found>): Promise<Found> {
  let begun = performance.now();
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (performance.now() - begun < TURN_MS) continue;
    await yieldToOthers();
    begun = performance.now();
  }
}
