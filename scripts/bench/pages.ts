/**
 * What the pages of a domain's sources cost, as a multiple of the same page of a domain without reports:
 * `npm run bench -- pages`, `-- pages <addresses> <text of a page's name>`. A year of days with 1,000 addresses each, the most that are kept, which
 * are 50,000 in all; 5,000 have names in DNS, as many as are looked up; half send by services that their signatures name.
 */
import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addDays } from '../../src/domain/instant.ts';
import type { AggregateReport } from '../../src/domain/reports/aggregate-report.ts';
import { insertAccount } from '../../src/store/accounts/accounts.ts';
import { updateNames } from '../../src/store/days/names.ts';
import { insertDomain } from '../../src/store/domains/domains.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { insertPerson } from '../../src/store/people/new-people.ts';
import { insertSession } from '../../src/store/people/sessions.ts';
import { aRecord, BARE_METADATA, BARE_POLICY, BARE_REPORT, withRecords } from '../bare-report.ts';
import { anMmdb } from '../mmdb.ts';
import { receiveInputs } from '../receive.ts';
import { SERVER_ENV } from '../server-env.ts';
import { type Measured, startMeasured } from './cpu.ts';
import { print } from './print.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 6);
/** Requests of a round: a person may look at 300 pages in fifteen minutes. */
const REQUESTS = 10;
const WARM_ROUNDS = 2;
const PEOPLE = 100;

const NEWEST = '2026-03-14';
const NOW = `${NEWEST}T12:00:00Z`;
const DAYS = 366;
const OF_DAY = 1_000;
const NAMED = 5_000;

const PLACES = {
  'the domain': '',
  'the domain, a year': '?days=365',
  'its sources of 30 days': '/sources',
  'its sources of a year': '/sources?days=365',
  '- another range': '/sources?to=2026-03-14&from=',
  '- a year, after a report': '/sources?days=365&report=1',
  '- the same, sorted': '/sources?days=365&sort=failed&order=asc',
  '- the same, searched': '/sources?days=365&q=mailer-3',
  '- the same, failing only': '/sources?days=365&failing=1',
  '- by addresses': '/sources?days=365&group=address',
  '- by addresses, in a network': '/sources?days=365&group=address&q=198.18.3.0/24',
  '- by networks': '/sources?days=365&group=network',
} as const;

export async function benchPages([wanted = '50000', only = '']: readonly string[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'));
  try {
    const database = join(folder, 'pages.db');
    const networks = join(folder, 'networks.mmdb');
    await writeFile(networks, aNetworkFile());
    const filled = await fill(database, Number(wanted));
    const server = await startMeasured('./served.ts', {
      ...SERVER_ENV,
      PLUMBLINE_DATABASE: database,
      PLUMBLINE_IP_DATABASE: networks,
      PLUMBLINE_PORT: '0',
      PLUMBLINE_REQUESTS_PER_IP: '1000000000',
      PLUMBLINE_LOG_LEVEL: 'warn',
    });
    print(
      `\nPages of a domain with ${wanted} addresses, CPU of the server, the least of ${ROUNDS} rounds`,
    );
    for (const [name, place] of Object.entries(PLACES).filter(([name]) => name.includes(only)))
      print(await measure(name, place, { ...filled, server }));
    server.stop();
    await filled.store.close();
  } finally {
    await rm(folder, { recursive: true });
  }
}

interface Filled {
  readonly store: Store;
  readonly domainId: string;
  readonly emptyId: string;
  readonly sessions: Iterator<string>;
}

async function measure(
  name: string,
  place: string,
  { store, domainId, emptyId, sessions, server }: Filled & { readonly server: Measured },
): Promise<string> {
  const least = { full: Number.POSITIVE_INFINITY, empty: Number.POSITIVE_INFINITY };
  const paths = {
    full: `/settings/domains/${domainId}${place}`,
    empty: `/settings/domains/${emptyId}${place}`,
  };
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
    const session: string = sessions.next().value;
    for (const kind of ['full', 'empty'] as const) {
      const micros = await readCost(server, store, { path: paths[kind], session });
      if (round >= 0) least[kind] = Math.min(least[kind], micros);
    }
  }
  const [full, empty] = [least.full / 1000, least.empty / 1000];
  return `${name.padEnd(32)} ${full.toFixed(1).padStart(6)} ms  ${empty.toFixed(1).padStart(4)} ms  ${(full / empty).toFixed(1).padStart(5)} ×`;
}

async function readCost(
  server: Measured,
  store: Store,
  { path, session }: { readonly path: string; readonly session: string },
): Promise<number> {
  const headers = { cookie: `plumbline-session=${session}` };
  const before = await server.usage();
  for (let i = 0; i < REQUESTS; i++) {
    if (path.includes('report=')) await receiveMore(store);
    const url = server.url + (path.endsWith('from=') ? path + nextDay() : path);
    const answer = await fetch(url, { headers, redirect: 'manual' });
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}.`);
    await answer.text();
  }
  return ((await server.usage()).micros - before.micros) / REQUESTS;
}

/** A report of ten addresses, of the newest day. */
async function receiveMore({ db }: Store): Promise<void> {
  asked += 1;
  const content = aReportOfDay(0, 10, `more ${asked}`);
  const bytes = Buffer.from(`report ${asked} of the newest day`);
  await receiveInputs(db, [{ name: 'more.xml', bytes, documents: [{ member: [], content }] }], NOW);
}

/** Begins a range that was not asked for before. */
function nextDay(): string {
  asked += 1;
  return addDays(NEWEST, asked - 365);
}

let asked = 0;

async function fill(database: string, addresses: number): Promise<Filled> {
  const store = await openStore(database);
  const account = { name: 'Example', plan: 'pro', allowDuplicate: true, now: NOW } as const;
  const { id: accountId } = await insertAccount(store.db, account);
  const [domain, empty] = [
    await insertDomain(store.db, { accountId, name: 'example.com', now: NOW }),
    await insertDomain(store.db, { accountId, name: 'empty.example', now: NOW }),
  ];
  for (let ago = DAYS - 1; ago >= 0; ago -= 1) await receiveDay(store, ago, addresses);
  for (let i = 0; i < NAMED; i += 500)
    await updateNames(store.db, { domainId: domain.id, now: NOW }, namesFrom(i));
  const sessions = await openSessions(store, accountId);
  return { store, domainId: domain.id, emptyId: empty.id, sessions: sessions.values() };
}

async function openSessions({ db }: Store, accountId: string): Promise<string[]> {
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  const sessions: string[] = [];
  for (let i = 0; i < PEOPLE; i++) {
    const proof = { password_hash: 'none' };
    const person = { accountId, email: `person-${i}@example.com`, passwordHash: 'none', now };
    const { id: personId } = await insertPerson(db, person);
    const session = { personId, proof, isFactorDone: true, address: '192.0.2.1', userAgent: '' };
    sessions.push(await insertSession(db, { ...session, now }));
  }
  return sessions;
}

async function receiveDay({ db }: Store, ago: number, addresses: number): Promise<void> {
  const content = aReportOfDay(ago, addresses);
  const documents = [{ member: ['1'], content }];
  const bytes = Buffer.from(`the report of ${ago} days ago`);
  await receiveInputs(db, [{ name: `${ago}.xml`, bytes, documents }], NOW);
}

/** Of which every tenth source fails. */
function aReportOfDay(ago: number, addresses: number, reportId = `${ago}`): AggregateReport {
  const records = Array.from({ length: Math.min(OF_DAY, addresses) }, (_, n) => {
    const i = (n * Math.ceil(addresses / OF_DAY) + ago * 7) % addresses;
    const signed = {
      domain: toSigner(i),
      selector: `s${i % 3}`,
      result: 'pass',
      humanResult: null,
    };
    return aRecord({
      sourceIp: toAddress(i),
      count: 1 + ((i * 7 + ago) % 50),
      spf: i % 10 === 0 ? 'fail' : 'pass',
      signatures: [signed],
    });
  });
  const begin = Date.parse(`${addDays(NEWEST, -ago)}T00:00:00Z`) / 1000;
  const report = {
    ...BARE_REPORT,
    metadata: {
      ...BARE_METADATA,
      ...{ orgName: 'Example', email: 'dmarc@example.net', reportId },
      ...{ begin, end: begin + 86_399 },
    },
    policyPublished: { ...BARE_POLICY, domain: 'example.com' },
    payloadSha256: hash('sha256', reportId, 'hex'),
  };
  return withRecords(report, records);
}

const SIGNERS = [
  'sendgrid.net',
  'mcsv.net',
  'amazonses.com',
  'mailer.example',
  'example.com',
  'news.example',
];
const toSigner = (i: number) => SIGNERS[i % SIGNERS.length] ?? '';

const toAddress = (i: number) => `198.${18 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`;

function namesFrom(first: number) {
  return Array.from({ length: 500 }, (_, n) => ({
    address: toAddress(first + n),
    name: `out-${first + n}.mailer-${n % 37}.example`,
    expiresAt: '2100-01-01T00:00:00Z',
  }));
}

/** Some 800 networks of 40 organisations. */
function aNetworkFile(): Buffer {
  const networks = Array.from({ length: 800 }, (_, n) => [
    `198.18.${n >> 2}.${(n & 3) << 6}/26`,
    { asn: `AS${64_500 + (n % 40)}`, as_name: `Example Networks ${n % 40}` },
  ]);
  return anMmdb({ networks: Object.fromEntries(networks) });
}
