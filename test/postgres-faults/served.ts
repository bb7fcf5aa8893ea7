import pino from 'pino';
import { onTestFinished } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import type { AggregateReport } from '../../src/domain/reports/aggregate-report.ts';
import { startServer } from '../../src/http/server.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store, StoreOptions } from '../../src/store/engine/store.ts';
import { aDomain, anAccount, aReport, receive } from '../support/builders.ts';
import { holdToContract } from '../support/contract.ts';

const SILENT = pino({ level: 'silent' });

/** The whole server on a database, with an account, a domain and reports. */
export async function serveOn(database: string, options: StoreOptions = {}) {
  const store = await openStore(database, options);
  const config = readConfig({
    PLUMBLINE_PORT: '0',
    PLUMBLINE_REQUESTS_PER_IP: '1000000000',
    PLUMBLINE_REQUESTS_PER_KEY: '1000000000',
    // Every page is read from the database.
    PLUMBLINE_PAGE_CACHE_MB: '0',
  });
  const { key, id: accountId } = await anAccount(store.db);
  const domain = await aDomain(store.db, accountId);
  await receive(store.db, [aReport({ domain: domain.name })]);
  const server = await startServer(config, { store, log: SILENT });
  const list = `/v1/external/domains/${domain.id}/reports`;
  const stop = async () => {
    await server.stop();
    await store.close();
  };
  return { store, domain, accountId, stop, ...createClient(server.url, key), list };
}

/** No answer may take longer. The largest wait on the way is 5 s, for a connection. */
const MAX_WAIT_MS = 12_000;

function createClient(url: string, key: string) {
  /** Asks, and checks the answer against the contract. Throws when there is none in time. */
  const ask = async (path: string) => {
    const answer = await fetch(url + path, {
      headers: { Authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(MAX_WAIT_MS),
    });
    const body = await answer.text();
    const { status } = answer;
    const headers = Object.fromEntries(answer.headers);
    if (path.startsWith('/v1/')) holdToContract({ method: 'GET', path, status, headers, body });
    return { status, headers, body: body === '' ? undefined : JSON.parse(body) };
  };
  const readiness = async () => (await ask('/readyz')).status;
  return { ask, readiness };
}

type Served = Awaited<ReturnType<typeof serveOn>>;

let loads = 0;

/** Clients that ask, and an intake that stores one report at a time, until `end`, or until the test is over. */
export function load({ ask, list, store, domain }: Served, names = [domain.name]) {
  const name = `load ${++loads}`;
  const statuses: Record<number, number> = {};
  const stored: string[] = [];
  const failed: AggregateReport[] = [];
  let isOver = false;
  const client = async (path: string) => {
    while (!isOver) {
      const { status } = await ask(path);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  const intake = async () => {
    for (let i = 0; !isOver; i++) {
      const wanted = { domain: names[i % names.length] as string, reportId: `${name} ${i}` };
      const report = aReport(wanted);
      const outcome = await receive(store.db, [report]).catch(() => undefined);
      if (outcome === undefined) failed.push(report);
      else stored.push(`${name} ${i}`);
    }
  };
  const paths = [
    '/v1/external/domains',
    list,
    '/v1/external/alerts',
    `${list}?received_after=start`,
  ];
  const all = Promise.all([...paths.map(client), intake()]);
  // Awaited by `end`.
  all.catch(() => {});
  const end = async () => {
    isOver = true;
    await all;
    return { statuses, stored, failed };
  };
  onTestFinished(async () => {
    isOver = true;
    await all.catch(() => {});
  });
  return { end, statuses };
}

/** Stores again what could not be stored: intake that is repeated after an error. */
export async function repeat({ db }: Pick<Store, 'db'>, failed: readonly AggregateReport[]) {
  for (const report of failed) await receive(db, [report]);
}
