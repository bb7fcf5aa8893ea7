import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { DayRange } from '../../domain/instant.ts';
import { toAddress, toAddressKey } from '../../domain/sources/address-key.ts';
import { addDay, type DaySources } from '../../domain/sources/day-sources.ts';
import { isIntact, isKept, unpackSources } from '../../domain/sources/packed-sources.ts';
import { askAll, type Reader } from '../engine/reader.ts';
import { daysOf, sumPatterns } from './days.ts';
import { type Marks, marksOf, toMarks } from './marks.ts';

/** What says who sent: what reporters said of an address's mail, by pattern, and its mark. */
export interface MailOfSenders {
  readonly findPatterns: (address: string) => ReadonlyMap<string, number> | undefined;
  readonly marks: Marks;
}

export interface MailOfDays extends MailOfSenders {
  readonly sources: DaySources;
  /** How many days had reports, whose sources are kept. */
  readonly days: number;
}

interface MailQuery {
  readonly domainId: string;
  readonly range: DayRange;
}

/** All that is known of a domain's mail of some days: for a month at most, because each day is unpacked as a whole. */
export async function readMail(reader: Reader, query: MailQuery): Promise<MailOfDays> {
  const [days, marks] = await readDays(reader, query);
  const sources: DaySources = new Map();
  for (const { sources: packed } of days) {
    // What is damaged is repaired by the pages of sources.
    if (isIntact(packed)) addDay(sources, unpackSources(packed));
    await yieldToOthers();
  }
  const findPatterns = (address: string) => sources.get(toAddressKey(address))?.patterns;
  return {
    sources,
    findPatterns,
    days: days.filter((one) => isKept(one.sources)).length,
    marks: toMarks(marks),
  };
}

/** In a fifth of the time of all mail. */
export async function readSenders(reader: Reader, query: MailQuery): Promise<MailOfSenders> {
  const [days, marks] = await readDays(reader, query);
  const patterns = await sumPatterns(days);
  const findPatterns = (address: string) => patterns.get(toAddressKey(address));
  return { findPatterns, marks: toMarks(marks) };
}

function readDays(reader: Reader, { domainId, range }: MailQuery) {
  return reader.readPlan(() => askAll(daysOf({ domainId, ...range }), marksOf({ domainId })));
}

/** What each address sent, with its mark. */
export function listMarked({ sources, marks }: MailOfDays) {
  return [...sources].map(([key, { counts }]) => {
    const address = toAddress(key);
    return { address, ...counts, mark: marks.get(address)?.mark };
  });
}
