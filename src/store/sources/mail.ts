import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { DayRange } from '../../domain/instant.ts';
import { toAddress } from '../../domain/sources/address-key.ts';
import { addDay, type DaySources } from '../../domain/sources/day-sources.ts';
import { isIntact, unpackSources } from '../../domain/sources/packed-sources.ts';
import { askAll, type Reader } from '../engine/reader.ts';
import { daysOf } from './days.ts';
import { type Marks, marksOf, toMarks } from './marks.ts';

export interface MailOfDays {
  readonly sources: DaySources;
  readonly marks: Marks;
}

/** All that is known of a domain's mail of some days: for a month at most, because each day is unpacked as a whole. */
export async function readMail(
  reader: Reader,
  { domainId, range }: { readonly domainId: string; readonly range: DayRange },
): Promise<MailOfDays> {
  const [days, marks] = await reader.readPlan(() =>
    askAll(daysOf({ domainId, ...range }), marksOf({ domainId })),
  );
  const sources: DaySources = new Map();
  for (const { sources: packed } of days) {
    // What is damaged is repaired by the pages of sources.
    if (isIntact(packed)) addDay(sources, unpackSources(packed));
    await yieldToOthers();
  }
  return { sources, marks: toMarks(marks) };
}

/** What each address sent, with its mark. */
export function listMarked({ sources, marks }: MailOfDays) {
  return [...sources].map(([key, { counts }]) => {
    const address = toAddress(key);
    return { address, ...counts, mark: marks.get(address)?.mark };
  });
}
