import { type BoundQuery, prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan } from '../engine/reader.ts';

/** Where a text of a domain is. */
export interface TextKey {
  readonly month: string;
  readonly id: string;
}

interface TextRow {
  readonly id: string;
  readonly text: string;
}

/** Texts that details of sources refer to, by id. The work depends on their number only. */
export function* findTexts(domainId: string, keys: readonly TextKey[]): Plan<Map<string, string>> {
  const found = new Map<string, string>();
  for (const [month, some] of Map.groupBy(keys, (key) => key.month)) {
    const ids = [...new Set(some.map(({ id }) => id))];
    for (let from = 0; from < ids.length; from += MAX_IDS)
      for (const { id, text } of yield* ask(
        textsOf(domainId, month, ids.slice(from, from + MAX_IDS)),
      ))
        found.set(id, text);
  }
  return found;
}

/** Ids in one statement, which is prepared for each of these numbers; the last id is repeated. */
const SIZES = [4, 16, 64] as const;
const MAX_IDS = 64;

type Wanted = Readonly<Record<string, string>>;

const STATEMENTS = SIZES.map((size) => ({ size, prepared: prepareTexts(size) }));

function prepareTexts(size: number) {
  return prepareQuery<Wanted, TextRow>((db, param) => {
    const ids = Array.from({ length: size }, (_, i) => param(`id${i}`));
    return db
      .selectFrom('source_text')
      .select(['id', 'text'])
      .where('domain_id', '=', param('domainId'))
      .where('month', '=', param('month'))
      .where('id', 'in', ids);
  });
}

function textsOf(domainId: string, month: string, ids: readonly string[]): BoundQuery<TextRow> {
  const statement = STATEMENTS.find(({ size }) => size >= ids.length) ?? STATEMENTS.at(-1);
  const { size, prepared } = statement as (typeof STATEMENTS)[number];
  const named = Array.from({ length: size }, (_, i) => [`id${i}`, ids[i] ?? ids.at(-1) ?? '']);
  return prepared({ domainId, month, ...Object.fromEntries(named) });
}
