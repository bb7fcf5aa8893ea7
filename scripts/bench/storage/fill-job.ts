/**
 * Fills a database by the intake of a checkout, which may be of another version than this one, in a process of its
 * own: `fill-job.ts <FillRequest as JSON>`.
 */
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { renderMadeReport, toArrival } from './report.ts';
import { SHAPES, type ShapeName, toDomainName, toMadeReport } from './shapes.ts';

export interface FillRequest {
  /** The folder of the checkout. */
  readonly root: string;
  readonly database: string;
  readonly shape: ShapeName;
  readonly reports: number;
  /** People with an open session: each may look at 300 pages in fifteen minutes. */
  readonly people: number;
}

export interface Filled {
  /** Or the URL. */
  readonly path: string;
  readonly reports: number;
  readonly key: string;
  readonly domainId: string;
  readonly sessions: readonly string[];
  /** Of the process, without the time in which the reports were made. */
  readonly cpuMs: number;
  readonly originalBytes: number;
}

/** Reports that are made, and then stored. */
const CHUNK = 2_000;

type Sources = typeof import('../../../src/intake/ingest.ts') &
  typeof import('../../../src/intake/parser/input-parser.ts') &
  typeof import('../../../src/store/engine/open.ts') &
  typeof import('../../../src/store/accounts/accounts.ts') &
  typeof import('../../../src/store/accounts/api-keys.ts') &
  typeof import('../../../src/store/domains/domains.ts') &
  typeof import('../../../src/store/people/new-people.ts') &
  typeof import('../../../src/store/people/sessions.ts');

const FILES = [
  ...['intake/ingest', 'intake/parser/input-parser', 'store/engine/open'],
  ...['store/accounts/accounts', 'store/accounts/api-keys', 'store/accounts/domains'],
  ...['store/people/new-people', 'store/people/sessions'],
];

const request: FillRequest = JSON.parse(process.argv[2] ?? '');
const { root, reports } = request;
const shape = SHAPES[request.shape];
const modules = await Promise.all(FILES.map((file) => import(join(root, 'src', `${file}.ts`))));
const product: Sources = Object.assign({}, ...modules);
const store = await product.openStore(request.database);
const parser = product.createInputParser();
const owned = await makeOwners();
const filled: Filled = {
  ...{ path: request.database, reports },
  ...owned,
  ...(await ingestAll()),
};
await parser.close();
await store.close();
process.send?.(filled);
process.disconnect?.();

async function makeOwners() {
  const now = toArrival({ domain: 0, day: -1, reporter: 0 }).toISOString().slice(0, 19);
  const at = { now: `${now}Z` };
  const accountIds: string[] = [];
  for (let i = 0; i < shape.accounts; i++) {
    const account = { name: `Company ${i}`, plan: 'pro', allowDuplicate: true, ...at } as const;
    accountIds.push((await product.insertAccount(store.db, account)).id);
  }
  const domainIds: string[] = [];
  for (let i = 0; i < shape.domains; i++) {
    const accountId = accountIds[i % shape.accounts] as string;
    const domain = { accountId, name: toDomainName(i), ...at };
    domainIds.push((await product.insertDomain(store.db, domain)).id);
  }
  const [accountId = '', domainId = ''] = [accountIds[0], domainIds[0]];
  const { key } = await product.insertApiKey(store.db, { accountId, name: 'bench', ...at });
  return { key, domainId, sessions: await openSessions(accountId) };
}

async function openSessions(accountId: string): Promise<string[]> {
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  const sessions: string[] = [];
  for (let i = 0; i < request.people; i++) {
    const proof = { password_hash: 'none' };
    const person = { accountId, email: `person-${i}@example.com`, passwordHash: 'none', now };
    const { id: personId } = await product.insertPerson(store.db, person);
    const session = { personId, proof, isFactorDone: true, address: '192.0.2.1', userAgent: '' };
    sessions.push((await product.insertSession(store.db, { ...session, now })) as string);
  }
  return sessions;
}

async function ingestAll() {
  let [micros, originalBytes] = [0, 0];
  for (let from = 0; from < reports; from += CHUNK) {
    const size = Math.min(CHUNK, reports - from);
    const chunk = Array.from({ length: size }, (_, i) => toInput(from + i));
    for (const { bytes } of chunk) originalBytes += bytes.length;
    const before = process.cpuUsage();
    await ingestChunk(chunk);
    const { user, system } = process.cpuUsage(before);
    micros += user + system;
    if (from % 20_000 === 0) process.stderr.write(`${from} of ${reports}\n`);
  }
  return { cpuMs: micros / 1000, originalBytes };
}

function toInput(i: number) {
  const report = toMadeReport(shape, reports, i);
  const { domain, day, reporter } = report;
  const name = `provider-${reporter}.example!${toDomainName(domain)}!${day}!${day + 1}.xml.gz`;
  const bytes = gzipSync(renderMadeReport(report, shape.records));
  return { name, bytes, at: toArrival(report) };
}

/** The clock is that of the input that was read last. */
async function ingestChunk(chunk: readonly ReturnType<typeof toInput>[]): Promise<void> {
  let now = new Date(0);
  async function* inputs() {
    for (const { name, bytes, at } of chunk) {
      now = at;
      yield { name, read: async () => ({ name, bytes }) };
    }
  }
  for await (const { outcome, input } of product.ingest(
    { db: store.db, now: () => now, parser },
    inputs(),
  ))
    if (outcome !== 'stored') throw new Error(`${input} was ${outcome}.`);
}
