import { isDeepStrictEqual } from 'node:util';
import { packSources, unpackSources } from '../../domain/sources/stored-sources.ts';
import { countDay, type DomainDay } from '../days/day-sources.ts';
import { planStatedPolicy } from '../days/stated-policy.ts';
import type { Queries } from '../engine/database.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { ask, askAll, type Plan, type Reader, toReader } from '../engine/reader.ts';
import type { Store } from '../engine/store.ts';
import {
  type Difference,
  type Figure,
  type FigureRow,
  OF_ACCOUNT,
  OF_DOMAIN,
  toLists,
} from './figures.ts';
import { type FigureOwner, lockOwner, mend, touchOwner } from './mend.ts';

interface Verified {
  readonly db: Queries;
  readonly reader: Reader;
}

/**
 * Counts every stored figure again and yields those that are wrong. Each account and each domain is read in a snapshot of
 * its own, because no figure counts rows of two: so none is held open for long, and others go on.
 */
export async function* verify(store: Verified): AsyncGenerator<Difference> {
  for await (const owner of listOwners(store.db)) yield* await findWrong(store, owner);
}

async function findWrong(store: Verified, owner: FigureOwner): Promise<Difference[]> {
  const wrong = await store.reader.readPlan(
    () => planFigures(FIGURES[owner.table], owner),
    toChanging(owner),
  );
  return owner.table === 'domain' ? [...wrong, ...(await compareDays(store, owner))] : wrong;
}

type Mending = Pick<Store, 'db' | 'reader'>;

/** Mends what is wrong and yields it. What could not be mended is named by `isMended`. */
export async function* repair(
  store: Mending,
): AsyncGenerator<Difference & { readonly isMended: boolean }> {
  for await (const owner of listOwners(store.db)) {
    const found = await findWrong(store, owner);
    if (found.length === 0) continue;
    await mendOwner(store, owner);
    const left = (await findWrong(store, owner)).map(toPlace);
    for (const one of found) yield { ...one, isMended: !left.includes(toPlace(one)) };
  }
}

/** How often an owner that keeps changing is counted again. */
const MAX_TRIES = 20;

/** Counted without a lock, because an owner may have a million items; written when nothing has changed since. */
async function mendOwner(store: Mending, owner: FigureOwner): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const state = await store.reader.readPlan(() => planState(owner));
    const wrong = await findWrong(store, owner);
    const isDone = await store.db.write(async (tx) => {
      await lockOwner(tx, owner);
      if ((await toReader(tx).readPlan(() => planState(owner))) !== state) return false;
      await mend(tx, owner, wrong);
      await touchOwner(tx, owner);
      return true;
    });
    if (isDone) return;
  }
}

const toChanging = ({ table, id }: FigureOwner) =>
  table === 'domain' ? { domainId: id } : { accountId: id };

const toPlace = ({ table, at, figure }: Difference) => [table, at, figure].join(' ');

/** The first account or domain whose totals are wrong. */
export async function findWrongHead(store: Verified): Promise<Difference | undefined> {
  for await (const owner of listOwners(store.db)) {
    const heads = FIGURES[owner.table].filter(({ table }) => table === owner.table);
    const [wrong] = await store.reader.readPlan(() => planFigures(heads, owner), toChanging(owner));
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

const FIGURES = { domain: OF_DOMAIN, account: OF_ACCOUNT } as const;
const OWNERS_AT_ONCE = 500;

/** Domains first: an account's lists follow theirs. */
async function* listOwners(db: Queries): AsyncGenerator<FigureOwner> {
  for (const table of ['domain', 'account'] as const) {
    const first = db.selectFrom(table).select(['id', 'name']).orderBy('id').limit(OWNERS_AT_ONCE);
    let rows = await first.execute();
    while (rows.length > 0) {
      for (const { id, name } of rows) yield { table, id, of: table === 'domain' ? name : id };
      rows = await first.where('id', '>', rows.at(-1)?.id ?? '').execute();
    }
  }
}

/** Another text after each change of the owner's lists. */
function* planState({ table, id }: FigureOwner): Plan<string> {
  return JSON.stringify(yield* ask(VERSIONS[table]({ id })));
}

const VERSIONS = {
  domain: prepareQuery((db, param: Param<{ id: string }>) =>
    db
      .selectFrom('domain')
      .select(['reports_version', 'tls_version', 'alerts_version'])
      .where('id', '=', param('id')),
  ),
  account: prepareQuery((db, param: Param<{ id: string }>) =>
    db
      .selectFrom('account')
      .select(['domains_version', 'reports_version', 'tls_version', 'alerts_version'])
      .where('id', '=', param('id')),
  ),
};

function* planFigures(figures: readonly Figure[], { id, of }: FigureOwner): Plan<Difference[]> {
  const found: Difference[] = [];
  for (const { table, list, stored, right } of figures) {
    const [ones, others] = yield* askAll(stored(toLists(id)), right(toLists(id)));
    const name = list === undefined ? table : `${table} of ${list}`;
    found.push(...compareRows(ones, others).map((wrong) => ({ table: name, of, ...wrong })));
  }
  return found;
}

function compareRows(stored: readonly FigureRow[], right: readonly FigureRow[]) {
  const [ones, others] = [toMap(stored), toMap(right)];
  const places = [...new Set([...ones.keys(), ...others.keys()])];
  return places.flatMap((at) => {
    const [one, other] = [ones.get(at), others.get(at)];
    return Object.keys(one ?? other ?? {})
      .filter((name) => name !== 'at')
      .map((figure) => {
        return { at, figure, stored: one?.[figure] ?? null, right: other?.[figure] ?? null };
      })
      .filter((compared) => String(compared.stored) !== String(compared.right));
  });
}

function toMap(rows: readonly FigureRow[]): Map<string | null, FigureRow> {
  return new Map(rows.map((row) => [row['at'] as string | null, row]));
}

/** What is read in contents of reports: each day in a snapshot of its own, so that none is open for long. */
async function compareDays(
  { db, reader }: Verified,
  { id, of }: FigureOwner,
): Promise<Difference[]> {
  const found: Difference[] = [];
  const days = db.selectFrom('domain_day').select(['day', 'belief']).where('domain_id', '=', id);
  for (const { day, belief } of await days.orderBy('day').orderBy('belief').execute()) {
    const at = { domainId: id, day, belief };
    const place = { table: 'domain_day', of, at: `${day} ${belief}` };
    const wrong = await reader.readPlan(() => planWrong(at), { domainId: id });
    found.push(...wrong.map((one) => ({ ...place, ...one })));
  }
  return found;
}

/** What is stored of a day's policy, and its cache of sources, and is not what its reports say. */
function* planWrong(at: DomainDay): Plan<Pick<Difference, 'figure' | 'stored' | 'right'>[]> {
  const [row] = yield* ask(rowOf(at));
  // It changed meanwhile.
  if (row === undefined) return [];
  const right = yield* planStatedPolicy(at);
  const isKnown = right === undefined || right === row.policy;
  const policy = isKnown ? [] : [{ figure: 'policy', stored: row.policy, right }];
  const kept = row.sources && unpackSources(row.sources);
  if (!kept || isDeepStrictEqual(kept, unpackSources(packSources(yield* countDay(at)))))
    return policy;
  return [...policy, { figure: 'sources', stored: 'other', right: 'counted' }];
}

const rowOf = prepareQuery((db, param: Param<DomainDay>) =>
  db
    .selectFrom('domain_day')
    .select(['policy', 'sources'])
    .where('domain_id', '=', param('domainId'))
    .where('day', '=', param('day'))
    .where('belief', '=', param('belief')),
);
