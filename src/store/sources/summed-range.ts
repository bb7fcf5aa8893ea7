import { LRUCache } from 'lru-cache';
import { Failure } from '../../domain/failure.ts';
import type { Day, DayRange } from '../../domain/instant.ts';
import type { KeyedSum } from '../../domain/sources/source-sums.ts';
import { prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import type { DomainOfAccount } from '../lists/heads.ts';
import { type DataDay, daysOf, sumSources } from './days.ts';
import { MAX_MARKS, type MarkRow, type Marks, toMarks } from './marks.ts';

/** What sources depend on besides their range. */
export interface SourcesState {
  /** Another one after each change of the domain's reports. */
  readonly version: string;
  /** The domain's name. */
  readonly domain: string;
  readonly marks: Marks;
}

/** What the addresses of a range sent. */
interface Sums {
  /** The domain's, when the days were read: others have other sums. */
  readonly version: string;
  readonly days: readonly DataDay[];
  readonly sums: readonly KeyedSum[];
  /** What was computed of them, by its name. */
  readonly computed: Map<string, unknown>;
}

export interface SummedRange extends SourcesState, Sums {
  /** The days whose packed sources are damaged (`repairDays`). */
  readonly damaged: readonly Day[];
}

/** Of ranges that were looked at lately: a person sorts, searches and pages a list, and a partner walks its pages. */
export type KeptSums = LRUCache<string, Sums>;

/** In each process that serves pages. A year of 50,000 addresses takes some 12 MB; twice as many are not kept. */
const MAX_BYTES = 16 * 1024 * 1024;
const BYTES_OF_SUM = 160;
const KEPT_MS = 60_000;

export function createKeptSums(): KeptSums {
  return new LRUCache({
    ...{ maxSize: MAX_BYTES, ttl: KEPT_MS, ttlAutopurge: true, updateAgeOnGet: true },
    sizeCalculation: ({ days, sums }) =>
      days.reduce(
        (size, { sources }) => size + (sources?.length ?? 0),
        1 + sums.length * BYTES_OF_SUM,
      ),
  });
}

/** Reads nothing that was kept and is of the domain's version. Throws `not_found` when the account has no such domain. */
export async function readRange(
  reader: Reader,
  scope: DomainOfAccount,
  range: DayRange,
  kept?: KeptSums,
): Promise<SummedRange> {
  const key = `${scope.domainId} ${range.from} ${range.to}`;
  const former = kept?.get(key);
  const state = former && (await findSourcesState(reader, scope));
  if (former !== undefined && state?.version === former.version)
    return { ...state, ...former, damaged: [] };
  const { days, ...current } = await readDays(reader, scope, range);
  const { sums, damaged } = await sumSources(days);
  const summed = { version: current.version, days, sums, computed: new Map() };
  if (damaged.length === 0) kept?.set(key, summed);
  return { ...current, ...summed, damaged };
}

function readDays(reader: Reader, scope: DomainOfAccount, range: DayRange) {
  return reader.readPlan(function* () {
    const state = yield* planState(scope);
    if (state === undefined) throw new Failure('not_found', 'No such domain.');
    return { ...state, days: yield* ask(daysOf({ domainId: scope.domainId, ...range })) };
  });
}

/** Computes a value of the sums once, while they are kept. */
export function computeOnce<T>({ computed }: Sums, name: string, compute: () => T): T {
  if (!computed.has(name)) computed.set(name, compute());
  return computed.get(name) as T;
}

/** undefined when the account has no such domain. */
export function findSourcesState(
  reader: Reader,
  scope: DomainOfAccount,
): Promise<SourcesState | undefined> {
  return reader.readAll(stateOf(scope)).then(toState);
}

function* planState(scope: DomainOfAccount): Plan<SourcesState | undefined> {
  return toState(yield* ask(stateOf(scope)));
}

/** The version with each mark, in one statement: it needs no transaction to be of one moment. */
const stateOf = prepareQuery<DomainOfAccount, Named & OrNull<MarkRow>>((db, param) =>
  db
    .selectFrom('domain')
    .leftJoin('source_mark', 'source_mark.domain_id', 'domain.id')
    .select([
      'reports_version as version',
      'domain.name as domain',
      'address',
      'mark',
      'marked_at',
      'marked_by',
    ])
    .where('domain.id', '=', param('domainId'))
    .where('account_id', '=', param('accountId'))
    .orderBy('address')
    .limit(MAX_MARKS),
);

type Named = Pick<SourcesState, 'version' | 'domain'>;
type OrNull<Row> = { [Name in keyof Row]: Row[Name] | null };

function toState(rows: readonly RowOfQuery<typeof stateOf>[]): SourcesState | undefined {
  const [first] = rows;
  const marks = rows.filter((row): row is typeof row & MarkRow => row.address !== null);
  return first && { version: first.version, domain: first.domain, marks: toMarks(marks) };
}
