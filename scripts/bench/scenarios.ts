import { addDays } from '../../src/domain/instant.ts';
import type { Filled, ShapeName } from './databases.ts';
import type { Load } from './load.ts';

/** One kind of request, and how many times the cost of bare node:http it may have. */
export interface Scenario {
  readonly name: string;
  readonly goal?: number;
  /** Plumbline's memory for pages; with 0 it reads each page for each request. */
  readonly pageCacheMb: 0 | 32;
  readonly toLoad: ToLoad;
  /** The database; of one domain when none is given. */
  readonly shape?: ShapeName;
  /** The peer has pages of one domain's reports, and no cursors. */
  readonly hasPeer?: true;
  /** The former release has what was there before it. */
  readonly hasFormer?: true;
}

/** A server, and whose reports are asked for. */
export interface Asked extends Pick<Filled, 'key' | 'domainId' | 'reports' | 'from' | 'until'> {
  readonly url: string;
}

type ToLoad = (asked: Asked) => Promise<Load>;
type ToPath = (asked: Asked) => string | Promise<string>;

const [PAGE, LARGE_PAGE, OFFSETS] = [50, 200, 2_000];
const AFRESH = { pageCacheMb: 0 } as const;
const KEPT = { pageCacheMb: 32 } as const;
const FORMER = { hasFormer: true } as const;
const PEER = { hasPeer: true, ...FORMER } as const;
const OF_500 = { shape: 'overview' } as const;

const toDomain: ToPath = ({ domainId }) => `/v1/external/domains/${domainId}`;
const toReports: ToPath = (asked) => `${toDomain(asked)}/reports`;
/** The account has no other reports than its first domain's. */
const toAllReports: ToPath = () => '/v1/external/reports';
const toSources: ToPath = (asked) =>
  `${toDomain(asked)}/sources?from=${asked.from}&until=${asked.until}`;
const toYear: ToPath = (asked) =>
  `${toDomain(asked)}/days?from=${addDays(asked.until, -365)}&until=${asked.until}&limit=200`;
const toAllDays: ToPath = () => '/v1/external/days?limit=200';
const toOverview: ToPath = () => '/v1/external/overview?limit=200';
const toFiltered =
  (toList: ToPath, toFilter: (asked: Asked) => string): ToPath =>
  async (asked) => {
    const list = await toList(asked);
    return `${list}${list.includes('?') ? '&' : '?'}${toFilter(asked)}`;
  };
const ofDays = ({ from, until }: Asked) => `from=${from}&until=${until}`;
const ofReporter = () => 'reporter=provider-3.example';
const toRecords: ToPath = async (asked) => {
  const { paths, headers } = await same(toReports)(asked);
  const answer = await fetch(`${asked.url}${paths[0]}?limit=1`, { headers });
  const { data } = (await answer.json()) as { data: readonly { id: string }[] };
  return `${paths[0]}/${data[0]?.id}/records`;
};

export const SCENARIOS: readonly Scenario[] = [
  { name: '304', goal: 3, toLoad: known(same(toReports)), ...KEPT, ...PEER },
  { name: 'first page', goal: 8, toLoad: same(toReports), ...AFRESH, ...PEER },
  { name: 'repeated page', goal: 5, toLoad: same(toReports), ...KEPT, ...FORMER },
  { name: 'random page', goal: 15, toLoad: random(toReports), ...AFRESH, ...PEER },
  { name: 'random page, gzip', goal: 25, toLoad: gzip(random(toReports)), ...AFRESH, ...PEER },
  { name: 'last page', toLoad: last(toReports), ...AFRESH, ...FORMER },
  { name: 'walk by 200', goal: 40, toLoad: walk(toReports), ...AFRESH, ...PEER },
  { name: 'nothing new', goal: 4, toLoad: followed(toReports, 0), ...KEPT, ...FORMER },
  { name: 'ten new', goal: 6, toLoad: followed(toReports, 10), ...AFRESH, ...FORMER },
  { name: 'changes, nothing new, 304', goal: 3, toLoad: known(changed(0)), ...KEPT },
  { name: 'changes, nothing new', goal: 3, toLoad: changed(0), ...AFRESH },
  { name: 'changes, ten new', goal: 6, toLoad: changed(10), ...AFRESH },
  { name: 'changes, ten with records', goal: 9, toLoad: changed(10, '&include=records'), ...KEPT },
  {
    name: 'changes, ten with records, afresh',
    toLoad: changed(10, '&include=records'),
    ...AFRESH,
  },
  { name: 'account, 304', toLoad: known(same(toAllReports)), ...KEPT, ...FORMER },
  { name: 'account, first page', toLoad: same(toAllReports), ...AFRESH, ...FORMER },
  { name: 'account, random page', toLoad: random(toAllReports), ...AFRESH, ...FORMER },
  { name: 'account, walk by 200', toLoad: walk(toAllReports), ...AFRESH, ...FORMER },
  { name: 'filtered by days', goal: 24, toLoad: same(toFiltered(toReports, ofDays)), ...AFRESH },
  {
    name: 'filtered by reporter',
    goal: 24,
    toLoad: same(toFiltered(toReports, ofReporter)),
    ...AFRESH,
  },
  {
    name: 'account, filtered by reporter',
    toLoad: same(toFiltered(toAllReports, ofReporter)),
    ...AFRESH,
  },
  { name: 'sources of thirty days, 304', goal: 4, toLoad: known(same(toSources)), ...KEPT },
  { name: 'sources of thirty days', goal: 10, toLoad: same(toSources), ...AFRESH },
  { name: 'records of a report, 304', toLoad: known(same(toRecords)), ...KEPT },
  { name: 'records of a report', toLoad: same(toRecords), ...AFRESH },
  { name: 'a domain, 304', toLoad: known(same(toDomain)), ...KEPT },
  { name: 'a domain', toLoad: same(toDomain), ...AFRESH },
  { name: 'a year of days, 304', toLoad: known(same(toYear)), ...KEPT },
  { name: 'a year of days', goal: 8, toLoad: same(toYear), ...KEPT },
  { name: 'a year of days, afresh', toLoad: same(toYear), ...AFRESH },
  { name: 'days of 500 domains', toLoad: same(toAllDays), ...AFRESH, ...OF_500 },
  { name: 'overview of 500 domains, 304', toLoad: known(same(toOverview)), ...KEPT, ...OF_500 },
  { name: 'overview of 500 domains', goal: 10, toLoad: same(toOverview), ...KEPT, ...OF_500 },
  { name: 'overview of 500 domains, afresh', toLoad: same(toOverview), ...AFRESH, ...OF_500 },
];

function same(toPath: ToPath): ToLoad {
  return async (asked) => {
    const headers = { authorization: `Bearer ${asked.key}`, 'accept-encoding': 'identity' };
    return { paths: [await toPath(asked)], headers, items: 'some' };
  };
}

/** Pages of a list that begin at offsets. */
function pages(
  toList: ToPath,
  toOffsets: (reports: number) => readonly number[],
  limit = PAGE,
): ToLoad {
  return async (asked) => {
    const load = await same(toList)(asked);
    const offsets = toOffsets(asked.reports);
    return { ...load, paths: offsets.map((at) => `${load.paths[0]}?limit=${limit}&offset=${at}`) };
  };
}

/** The same pages for every server, in an order that looks like chance: the step has no divisor with their number. */
function random(toList: ToPath): ToLoad {
  return pages(toList, (reports) =>
    Array.from({ length: OFFSETS }, (_, i) => (i * 7_919 * PAGE) % (reports - PAGE)),
  );
}

function last(toList: ToPath): ToLoad {
  return pages(toList, (reports) => [reports - PAGE]);
}

function walk(toList: ToPath): ToLoad {
  const toOffsets = (reports: number) =>
    Array.from({ length: Math.ceil(reports / LARGE_PAGE) }, (_, i) => i * LARGE_PAGE);
  return pages(toList, toOffsets, LARGE_PAGE);
}

/** What is behind a cursor that has seen all but so many reports. */
function followed(toList: ToPath, items: number): ToLoad {
  return async (asked) => {
    const load = await same(toList)(asked);
    const seen = `received_after=start&limit=1&offset=${asked.reports - items - 1}`;
    const answer = await fetch(`${asked.url}${load.paths[0]}?${seen}`, { headers: load.headers });
    await answer.arrayBuffer();
    const cursor = answer.headers.get('plumbline-cursor');
    return { ...load, paths: [`${load.paths[0]}?received_after=${cursor}`], items };
  };
}

const MANY_CHANGES = 1_000;

interface Changes {
  readonly data: readonly unknown[];
  readonly has_more: boolean;
}

/** What is behind a cursor of the feed that has seen all but so many changes. */
function changed(items: number, more = ''): ToLoad {
  return async (asked) => {
    const load = await same(() => '/v1/external/changes')(asked);
    const ask = async (after = 'start', limit = MANY_CHANGES) => {
      const url = `${asked.url}${load.paths[0]}?after=${after}&limit=${limit}`;
      const answer = await fetch(url, { headers: load.headers });
      const page = (await answer.json()) as Changes;
      return { ...page, cursor: answer.headers.get('plumbline-cursor') ?? '' };
    };
    const cursors = ['start'];
    let total = 0;
    for (let hasMore = true; hasMore; ) {
      const page = await ask(cursors.at(-1));
      cursors.push(page.cursor);
      total += page.data.length;
      hasMore = page.has_more;
    }
    const seen = total - items;
    const [from, rest] = [cursors[Math.floor(seen / MANY_CHANGES)], seen % MANY_CHANGES];
    const cursor = rest === 0 ? from : (await ask(from, rest)).cursor;
    return { ...load, paths: [`${load.paths[0]}?after=${cursor}${more}`], items };
  };
}

/** Each server has entity tags of its own. */
function known(toLoad: ToLoad): ToLoad {
  return async (asked) => {
    const load = await toLoad(asked);
    const answer = await fetch(`${asked.url}${load.paths[0]}`, { headers: load.headers });
    await answer.arrayBuffer();
    const headers = { ...load.headers, 'if-none-match': answer.headers.get('etag') ?? '' };
    return { ...load, headers, items: '304' };
  };
}

function gzip(toLoad: ToLoad): ToLoad {
  return async (asked) => {
    const load = await toLoad(asked);
    return { ...load, headers: { ...load.headers, 'accept-encoding': 'gzip' } };
  };
}
