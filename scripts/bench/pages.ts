/** What the pages of a domain's sources and of a report cost, beside the list of sources of a domain without reports. */
import { randomBytes } from 'node:crypto';
import { type Bench, isAlone } from './bench.ts';
import { type Checkout, run, serve } from './checkout.ts';
import { type Contender, compare } from './compare.ts';
import type { Filled, ShapeName } from './databases.ts';
import type { Server } from './servers.ts';

/** Requests of a round, and of rounds that are not counted. */
const [REQUESTS, WARM_REQUESTS] = [20, 40];
/** A person may look at 300 in fifteen minutes. */
const PAGES_OF_PERSON = 250;
const PASSWORD = 'correct horse battery staple';

/** Paths below the domain's. */
interface Ids {
  readonly address: string;
  readonly report: string;
}

const PAGES: Readonly<Record<string, (ids: Ids) => string>> = {
  'sources of thirty days': () => '/sources',
  'sources of a year': () => '/sources?days=365',
  'sources of a year, sorted': () => '/sources?days=365&sort=failed&order=asc',
  'sources of a year, searched': () => '/sources?days=365&q=198.18',
  'sources of a year, failing only': () => '/sources?days=365&failing=1',
  'sources of a year by addresses': () => '/sources?days=365&group=address',
  'sources of a year by networks': () => '/sources?days=365&group=network',
  'one source, a year': ({ address }) => `/sources/${address}?days=365`,
  reports: () => '/reports',
  'a report': ({ report }) => `/reports/${report}`,
};

export async function benchPages(bench: Bench): Promise<void> {
  for (const shape of ['usual', 'heavy'] as const) await benchShape(bench, shape);
}

async function benchShape(bench: Bench, shape: ShapeName): Promise<void> {
  const toTitle = (page: string) => `pages, ${bench.engine.name}, ${shape}: ${page}`;
  const wanted = Object.entries(PAGES).filter(([page]) => bench.isWanted(toTitle(page)));
  if (wanted.length === 0) return;
  const visitors = await openVisitors(bench, shape);
  for (const [page, toPath] of wanted) {
    const ours: Contender[] = [];
    for (const visitor of visitors) ours.push(await toContender(visitor, toPath(visitor.ids)));
    const base = visitors.slice(0, 1).map(toEmpty);
    await compare(toTitle(page), isAlone(bench) ? [...base, ...ours] : ours);
  }
  for (const { server } of visitors) await server.stop();
}

/** Somebody who looks at pages of a checkout's server. */
interface Visitor {
  readonly name: string;
  readonly server: Server;
  /** The path of the domain's page, and that of a domain without reports. */
  readonly domain: string;
  readonly empty: string;
  readonly ids: Ids;
  /** Called before as many pages are looked at. */
  readonly signInFor: (pages: number) => Promise<void>;
  readonly get: (path: string) => Promise<string>;
}

async function openVisitors({ checkouts, databases }: Bench, shape: ShapeName) {
  const visitors: Visitor[] = [];
  for (const checkout of checkouts) {
    const filled = await databases.open(checkout, shape);
    const server = await serve(checkout, filled.database, 32);
    visitors.push(await openVisitor(checkout, filled, server));
  }
  return visitors;
}

async function openVisitor(checkout: Checkout, filled: Filled, server: Server): Promise<Visitor> {
  let [cookie, left] = ['', 0];
  const signInFor = async (pages: number) => {
    if (left < pages) [cookie, left] = [await signIn(checkout, filled, server), PAGES_OF_PERSON];
    left -= pages;
  };
  const get = async (path: string) => {
    const answer = await fetch(server.url + path, { headers: { cookie }, redirect: 'manual' });
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}.`);
    return await answer.text();
  };
  const [domain, empty] = [filled.domainId, filled.emptyId].map((id) => `/settings/domains/${id}`);
  await signInFor(2);
  const find = async (page: string, link: RegExp) => {
    const [, id] = link.exec(await get(domain + page)) ?? [];
    if (id === undefined) throw new Error(`${domain}${page} has no link to one of its items.`);
    return id;
  };
  const address = await find('/sources?group=address', /\/sources\/([0-9a-f]+(?:\.|:|%3A)[^"?]+)/);
  const report = await find('/reports', /\/reports\/([0-9a-f-]{36})/);
  const ids = { address, report };
  return {
    name: checkout.name,
    server,
    domain: domain ?? '',
    empty: empty ?? '',
    ids,
    signInFor,
    get,
  };
}

/** Adds a person, and returns the cookie of their session. */
async function signIn(
  checkout: Checkout,
  { database, accountId }: Filled,
  { url }: Server,
): Promise<string> {
  const email = `${randomBytes(6).toString('hex')}@example.com`;
  const args = ['user', 'add', accountId, email, '--password-stdin'];
  await run(checkout, args, { database, input: PASSWORD });
  const answer = await fetch(`${url}/settings/sign-in`, {
    method: 'POST',
    headers: { origin: url },
    body: new URLSearchParams({ email, password: PASSWORD }),
    redirect: 'manual',
  });
  if (answer.status !== 303) throw new Error(`Signing in answered ${answer.status}.`);
  return answer.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
}

/** Throws when the page has nothing to list. */
async function toContender(visitor: Visitor, place: string): Promise<Contender> {
  const path = visitor.domain + place;
  await visitor.signInFor(1);
  if (!/<tbody[^>]*>\s*<tr/.test(await visitor.get(path)))
    throw new Error(`${path} lists nothing.`);
  return { name: visitor.name, round: toRound(visitor, path) };
}

function toEmpty(visitor: Visitor): Contender {
  return { name: 'without reports', round: toRound(visitor, `${visitor.empty}/sources`) };
}

function toRound({ server, signInFor, get }: Visitor, path: string): Contender['round'] {
  let isWarm = false;
  const look = async (count: number) => {
    await signInFor(count);
    const before = await server.usage();
    for (let i = 0; i < count; i++) await get(path);
    return ((await server.usage()).micros - before.micros) / count;
  };
  return async () => {
    if (!isWarm) await look(WARM_REQUESTS);
    isWarm = true;
    return { 'µs of CPU': await look(REQUESTS) };
  };
}
