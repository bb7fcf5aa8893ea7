import { ask, type Plan } from '../connection/plan.ts';
import { type BoundQuery, type Param, prepareQuery } from '../connection/prepared.ts';
import type { CountedPattern } from './source.ts';

interface PatternRow {
  readonly id: string;
  readonly reporter: string | null;
  readonly pattern: string;
}

/**
 * What patterns say, by id. Each is looked for in the month in which it was counted last, so the work depends on
 * the number of patterns and months only.
 */
export function* findPatterns(
  domainId: string,
  counted: readonly CountedPattern[],
): Plan<Map<string, PatternRow>> {
  const found = new Map<string, PatternRow>();
  const byMonth = Map.groupBy(counted, ({ lastDay }) => lastDay.slice(0, 7));
  for (const [month, patterns] of byMonth)
    for (let from = 0; from < patterns.length; from += MAX_IDS) {
      const ids = patterns.slice(from, from + MAX_IDS).map(({ id }) => id);
      for (const row of yield* ask(patternsOf(domainId, month, ids))) found.set(row.id, row);
    }
  return found;
}

/** Ids in one statement, which is prepared for each of these numbers; the last id is repeated. */
const SIZES = [1, 4, 16, 64] as const;
const MAX_IDS = 64;

type Wanted = Readonly<Record<string, string>>;

const STATEMENTS = SIZES.map((size) => ({ size, prepared: preparePatterns(size) }));

function preparePatterns(size: number) {
  return prepareQuery<Wanted, PatternRow>((db, param: Param<Wanted>) =>
    db
      .selectFrom('source_pattern')
      .select(['id', 'reporter', 'pattern'])
      .where('domain_id', '=', param('domainId'))
      .where('month', '=', param('month'))
      .where(
        'id',
        'in',
        Array.from({ length: size }, (_, i) => param(`id${i}`)),
      ),
  );
}

function patternsOf(
  domainId: string,
  month: string,
  ids: readonly string[],
): BoundQuery<PatternRow> {
  const statement = STATEMENTS.find(({ size }) => size >= ids.length) ?? STATEMENTS.at(-1);
  const { size, prepared } = statement as (typeof STATEMENTS)[number];
  const named = Array.from({ length: size }, (_, i) => [`id${i}`, ids[i] ?? ids.at(-1) ?? '']);
  return prepared({ domainId, month, ...Object.fromEntries(named) });
}
