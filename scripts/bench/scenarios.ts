import type { BenchDatabase } from './databases.ts';
import type { Load, Paths } from './paths.ts';

/** One kind of request, and how many times the cost of bare node:http it may have. */
export interface Scenario {
  readonly name: string;
  readonly goal?: number;
  /** Plumbline's memory for pages; with 0 it reads each page for each request. */
  readonly pageCacheMb: '0' | '32';
  readonly page: 'first' | 'middle' | 'last' | 'random' | 'walk';
  readonly isKnown?: boolean;
  readonly encoding?: 'gzip';
  readonly reports?: number;
  readonly isWithPeers?: boolean;
  /** What is read instead of the domain's reports: its sources of thirty days, its newest report's records, or the domain. */
  readonly of?: 'sources' | 'records' | 'domain';
  /** The list of the reports of all domains instead of one domain's: they are the same reports. */
  readonly isOfAccount?: boolean;
  /** The list is followed by a cursor behind which are so many reports. */
  readonly newReports?: number;
}

const AFRESH = { pageCacheMb: '0' } as const;
const KEPT = { pageCacheMb: '32' } as const;
const MILLION = { reports: 1_000_000 } as const;
const PEERS = { isWithPeers: true } as const;

export const SCENARIOS: readonly Scenario[] = [
  { name: '304', goal: 3, page: 'first', isKnown: true, ...KEPT, ...PEERS },
  { name: 'nothing new', goal: 4, page: 'first', newReports: 0, ...KEPT },
  { name: 'nothing new, 304', goal: 4, page: 'first', newReports: 0, isKnown: true, ...KEPT },
  { name: 'ten new', goal: 6, page: 'first', newReports: 10, ...AFRESH },
  { name: 'repeated page', goal: 5, page: 'first', ...KEPT },
  { name: 'first page afresh', goal: 8, page: 'first', ...AFRESH, ...PEERS },
  { name: 'middle page afresh', page: 'middle', ...AFRESH },
  { name: 'last page afresh', page: 'last', ...AFRESH },
  { name: 'random page', goal: 15, page: 'random', ...AFRESH, ...PEERS },
  { name: 'random page, page cache on', page: 'random', ...KEPT, ...PEERS },
  { name: 'random page, gzip', goal: 25, page: 'random', encoding: 'gzip', ...AFRESH, ...PEERS },
  { name: 'walk of every page of 200', goal: 40, page: 'walk', ...AFRESH, ...PEERS },
  { name: 'walk of every page of 200, page cache on', page: 'walk', ...KEPT, ...PEERS },
  { name: 'random page of 1,000,000', goal: 15, page: 'random', ...AFRESH, ...MILLION, ...PEERS },
  { name: 'first page of 1,000,000', page: 'first', ...AFRESH, ...MILLION },
  { name: 'last page of 1,000,000', page: 'last', ...AFRESH, ...MILLION },
  { name: 'account, 304', page: 'first', isOfAccount: true, isKnown: true, ...KEPT },
  { name: 'account, nothing new', page: 'first', isOfAccount: true, newReports: 0, ...KEPT },
  { name: 'account, ten new', page: 'first', isOfAccount: true, newReports: 10, ...AFRESH },
  { name: 'account, first page afresh', page: 'first', isOfAccount: true, ...AFRESH },
  { name: 'account, random page', page: 'random', isOfAccount: true, ...AFRESH },
  { name: 'account, walk of every page of 200', page: 'walk', isOfAccount: true, ...AFRESH },
  { name: 'sources, 304', page: 'first', of: 'sources', isKnown: true, ...KEPT },
  { name: 'sources afresh', page: 'first', of: 'sources', ...AFRESH },
  { name: 'records, 304', page: 'first', of: 'records', isKnown: true, ...KEPT },
  { name: 'records afresh', page: 'first', of: 'records', ...AFRESH },
  { name: 'a domain, 304', page: 'first', of: 'domain', isKnown: true, ...KEPT },
  { name: 'a domain afresh', page: 'first', of: 'domain', ...AFRESH },
];

/** Scenarios on PostgreSQL, whose base is the bare query and not bare node:http. */
export const POSTGRES_SCENARIOS: readonly Scenario[] = [
  { name: 'PostgreSQL: 304', page: 'first', isKnown: true, ...KEPT },
  { name: 'PostgreSQL: account, 304', page: 'first', isOfAccount: true, isKnown: true, ...KEPT },
  { name: 'PostgreSQL: account, random page', page: 'random', isOfAccount: true, ...AFRESH },
  { name: 'PostgreSQL: account, first page', page: 'first', isOfAccount: true, ...AFRESH },
  { name: 'PostgreSQL: random page', page: 'random', ...AFRESH },
  { name: 'PostgreSQL: walk of every page of 200', page: 'walk', ...AFRESH },
  { name: 'PostgreSQL: first page', page: 'first', ...AFRESH },
  { name: 'PostgreSQL: last page', page: 'last', ...AFRESH },
];

const PAGE = 50;
const LARGE_PAGE = 200;

export function toLoad(
  database: BenchDatabase,
  { page, encoding, isOfAccount }: Pick<Scenario, 'page' | 'encoding' | 'isOfAccount'>,
): Load {
  const { key, reports, domainId } = database;
  const list = isOfAccount ? '/v1/external/reports' : `/v1/external/domains/${domainId}/reports`;
  return {
    paths: toPaths(list, page, reports),
    headers: { authorization: `Bearer ${key}`, 'accept-encoding': encoding ?? 'identity' },
  };
}

/** The load, or one that asks for what only a server can name: what is behind a cursor, or beside the reports. */
export async function toFollowed(
  server: string,
  load: Load,
  { reports }: BenchDatabase,
  { newReports, of }: Scenario,
): Promise<Load> {
  const { paths, headers } = load;
  if (of !== undefined) {
    const answer = await fetch(`${server}${paths.path}?limit=1`, { headers });
    const { data } = (await answer.json()) as { data: readonly { id: string }[] };
    const domain = paths.path.replace(/\/reports$/, '');
    const path = {
      sources: `${domain}/sources`,
      domain,
      records: `${paths.path}/${data[0]?.id}/records`,
    }[of];
    return { headers, paths: { ...paths, path } };
  }
  if (newReports === undefined) return load;
  const last = `received_after=start&limit=1&offset=${reports - newReports - 1}`;
  const answer = await fetch(`${server}${paths.path}?${last}`, { headers });
  await answer.arrayBuffer();
  const path = `${paths.path}?received_after=${answer.headers.get('plumbline-cursor')}`;
  return { headers, paths: { ...paths, path } };
}

function toPaths(list: string, page: Scenario['page'], reports: number): Paths {
  const offset = { first: 0, middle: reports / 2, last: reports - PAGE }[page as 'first'];
  const [below, step] = [reports - PAGE, LARGE_PAGE];
  if (page === 'random') return { kind: 'random', path: `${list}?offset=`, below, step };
  if (page === 'walk')
    return { kind: 'walk', path: `${list}?limit=${LARGE_PAGE}&offset=`, below: reports, step };
  return { kind: 'same', path: offset === 0 ? list : `${list}?offset=${offset}`, below, step };
}

/** The path of one of the load's requests. */
export function toExample({ kind, path, below }: Paths): string {
  return kind === 'same' ? path : `${path}${Math.floor(below / 2)}`;
}
