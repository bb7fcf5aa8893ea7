import type { Measured } from '../cpu.ts';
import { readChildrenMicros } from '../processes.ts';
import { startPlumbline } from '../race.ts';
import type { Filled } from '../storage/fill-job.ts';
import type { ShapeName } from '../storage/shapes.ts';
import { tell } from './tell.ts';
import type { Databases, Version } from './versions.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 6);
/** Requests of a round. */
const REQUESTS = 50;
const WARM_ROUNDS = 3;

/** A year of reports of a domain with some 20 sources a day, and of one with more than the 1,000 that are kept. */
const YEARS: readonly [ShapeName, number][] = [
  ['usual', 4 * 366],
  ['heavy', 366],
];

type ToPath = (ids: Ids) => string;

const PAGES: Readonly<Record<string, ToPath>> = {
  'sources of 30 days': ({ domain }) => `${domain}/sources`,
  'sources of a year': ({ domain }) => `${domain}/sources?days=365`,
  'sources of a year by networks': ({ domain }) => `${domain}/sources?days=365&group=network`,
  'one source, 30 days': ({ domain, address }) => `${domain}/sources/${address}`,
  'one source, a year': ({ domain, address }) => `${domain}/sources/${address}?days=365`,
  'a report': ({ domain, report }) => `${domain}/reports/${report}`,
};

interface Ids {
  /** The path of the domain's page. */
  readonly domain: string;
  readonly address: string;
  readonly report: string;
}

interface Wanted {
  readonly open: Databases;
  readonly wanted: string;
}

export async function versusPages(
  versions: readonly Version[],
  { open, wanted }: Wanted,
): Promise<void> {
  for (const [shape, reports] of YEARS) {
    const toName = (page: string) => `page: ${page}, ${shape}`;
    const names = Object.keys(PAGES).filter((page) => toName(page).includes(wanted));
    if (names.length === 0) continue;
    const visitors: Visiting[] = [];
    for (const version of versions) {
      const filled = await open(version, shape, reports);
      const { server } = await startPlumbline(filled, '32', version);
      visitors.push({
        server,
        ids: await findIds(server, filled),
        sessions: filled.sessions.values(),
      });
    }
    for (const name of names) tell(toName(name), await race(visitors, PAGES[name] as ToPath));
    for (const { server } of visitors) server.stop();
  }
}

interface Visiting {
  readonly server: Measured;
  readonly ids: Ids;
  readonly sessions: ArrayIterator<string>;
}

async function findIds({ url }: Measured, { domainId, key, sessions }: Filled): Promise<Ids> {
  const domain = `/settings/domains/${domainId}`;
  const headers = { authorization: `Bearer ${key}` };
  const reports = await fetch(`${url}/v1/external/domains/${domainId}/reports?limit=1`, {
    headers,
  });
  const { data } = (await reports.json()) as { data: readonly { id: string }[] };
  const page = await get(`${url}${domain}/sources`, sessions.at(-1) ?? '');
  const address = /\/sources\/([^"?]+)/.exec(page)?.[1] ?? '';
  return { domain, address, report: data[0]?.id ?? '' };
}

async function get(url: string, session: string): Promise<string> {
  const headers = { cookie: `plumbline-session=${session}` };
  const answer = await fetch(url, { headers, redirect: 'manual' });
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}.`);
  return await answer.text();
}

async function race(visitors: readonly Visiting[], toPath: ToPath): Promise<number[]> {
  const least = visitors.map(() => Number.POSITIVE_INFINITY);
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++)
    for (const [i, visitor] of visitors.entries()) {
      const micros = await readCost(visitor, toPath);
      if (round >= 0) least[i] = Math.min(least[i] ?? 0, micros);
    }
  return least;
}

/** A version that reads originals for a page does that in a child process. */
async function readCost({ server, ids, sessions }: Visiting, toPath: ToPath): Promise<number> {
  const session = sessions.next().value ?? '';
  const read = async () => (await server.usage()).micros + readChildrenMicros(server.pid);
  const before = await read();
  for (let i = 0; i < REQUESTS; i++) await get(server.url + toPath(ids), session);
  return ((await read()) - before) / REQUESTS;
}
