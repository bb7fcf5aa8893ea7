import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { addDays, type Day, type DayRange } from '../domain/instant.ts';
import { COMPARED_DAYS, findChanges, type Window } from '../domain/what-changed.ts';
import { readPolicySteps } from '../store/domains/overview.ts';
import { findKnown, type JudgeDeps, readJudged } from './judged.ts';
import { keep } from './kept.ts';
import type { WorkItem } from './work.ts';

/* What changed of domains in a week and in thirty days. Pages and the API ask it here, so that they agree. */

const keptWindows = keep<{ readonly version: string; readonly windows: readonly Window[] }>({
  name: 'what changed',
  toBytes: ({ windows }) => windows.reduce((sum, { changes }) => sum + 600 * changes.length, 2_000),
});

interface ChangesQuery {
  readonly accountId: string;
  /** Few: each may take as long as a page of its sources. */
  readonly items: readonly WorkItem[];
  /** The account's: windows end with its last day. */
  readonly range: DayRange;
}

/** The changes of domains by their ids, which are found again when something changes by which they are. */
export async function readChanges(
  deps: JudgeDeps,
  { accountId, items, range: { to } }: ChangesQuery,
): Promise<ReadonlyMap<string, readonly Window[]>> {
  const known = await findKnown(deps);
  const found = new Map<string, readonly Window[]>();
  for (const item of items) {
    const version = [item.version, item.alertsVersion, item.reporters, to, ...known].join();
    const kept = keptWindows.find(deps.reader, item.id);
    const isKept = kept?.version === version;
    const windows = isKept ? kept.windows : await findWindows(deps, accountId, { item, to });
    found.set(item.id, windows);
    if (isKept) continue;
    keptWindows.set(deps.reader, item.id, { version, windows });
    await yieldToOthers();
  }
  return found;
}

/** Senders are compared up to the domain's own newest day: nobody stopped because reports do. */
async function findWindows(
  deps: JudgeDeps,
  accountId: string,
  { item: { id, name, facts }, to: end }: { readonly item: WorkItem; readonly to: Day },
): Promise<readonly Window[]> {
  const { oldest, newest } = facts;
  const to = newest !== null && newest < end ? newest : end;
  const range = { from: addDays(to, 1 - COMPARED_DAYS), to };
  const steps = await readPolicySteps(deps.reader, id, range.from);
  if (oldest === null) return findChanges({ range, oldest: to, ...NOBODY, steps }, end);
  const query = { scope: { accountId, domainId: id }, name, range, isDaily: true };
  const { sources, reporterDays: reporters } = await readJudged(deps, query);
  return findChanges({ range, oldest, sources, reporters, steps }, end);
}

const NOBODY = { sources: [], reporters: new Map() };
