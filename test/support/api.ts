import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import request from 'supertest';
import { onTestFinished } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { openContract } from '../../src/external/contract.ts';
import { type ContractDocument, readContract } from '../../src/external/contract-document.ts';
import { createApp } from '../../src/http/app.ts';
import type { Metrics } from '../../src/metrics/metrics.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { holdToContract } from './contract.ts';
import { noteExercised } from './contract-coverage.ts';
import { PATIENCE_MS } from './every-suite.ts';
import { openTestStore } from './store.ts';

/** Read and compiled once for all tests of a process. */
const read = readContract();
const contract = read.then(openContract);

/** The contract, to be changed. */
export const copyContract = async (): Promise<ContractDocument> => structuredClone(await read);

const NO_LIMIT = 1_000_000;

export interface Sent {
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as text, decompressed; empty when there is none. */
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies that the contract has checked.
  readonly body: any;
}

interface Wanted
  extends Partial<
    Pick<
      Config,
      | 'kept'
      | 'uploads'
      | 'hasSandbox'
      | 'redis'
      | 'baseUrl'
      | 'serviceName'
      | 'contact'
      | 'singleSignOn'
      | 'secretsKeyFile'
      | 'mailServer'
    >
  > {
  readonly store?: Store;
  readonly metrics?: Metrics;
  readonly requestsPerIp?: number;
  readonly requestsPerKey?: number;
  readonly trustedProxies?: readonly string[];
  readonly pageCacheBytes?: number;
  readonly mailHost?: string;
  readonly reportAddress?: string;
  readonly smtpRecipients?: readonly string[];
  readonly dnsServers?: readonly string[];
  readonly ipDatabase?: string;
  readonly shippedNetworks?: string;
  readonly dnsChecks?: boolean;
  readonly isStopping?: () => boolean;
  readonly document?: ContractDocument;
  readonly site?: string;
  readonly sandboxWaitMs?: number;
}

export type Api = Awaited<ReturnType<typeof startApi>>;

/** The real app with a store of its own, served until the test ends. */
export async function serveApi(wanted: Wanted = {}): Promise<Api> {
  const api = await startApi(wanted);
  onTestFinished(api.close);
  return api;
}

/**
 * The real app with a store in memory, for many tests that change nothing: close it after the last. Every
 * answer of `get` is checked against v1.yaml before the test sees it. The clock is `Date`, which vitest can
 * set.
 */
export async function startApi({
  store: given,
  isStopping,
  document,
  site,
  metrics,
  shippedNetworks,
  sandboxWaitMs = PATIENCE_MS,
  ...wanted
}: Wanted = {}) {
  const store = given ?? (await openTestStore());
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void logged.push(JSON.parse(line)) });
  const config = {
    requestsPerIp: NO_LIMIT,
    requestsPerKey: NO_LIMIT,
    pageCacheBytes: 1024 * 1024,
    trustedProxies: [],
    ...wanted,
  };
  const now = () => new Date();
  const app = await createApp({
    ...{ config, store, log, now, metrics },
    isStopping: isStopping ?? (() => false),
    contract: await (document === undefined ? contract : openContract(document)),
    ...(shippedNetworks === undefined ? {} : { shippedNetworks }),
    site,
    sandboxWaitMs,
  });
  // As the product's: a client that a busy machine holds up for seconds finds its connection open.
  const server = createServer({ keepAliveTimeout: 65_000 }, app.listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    await new Promise((resolve) => server.close(resolve));
    await app.flush();
    await store.close();
  };

  const send = async (path: string, sent: Sent = {}): Promise<Answer> => {
    const method = sent.method ?? 'GET';
    const answer = await request(server)
      [toFunctionName(method)](path)
      .unset('Accept-Encoding')
      .set(sent.key === undefined ? {} : { Authorization: `Bearer ${sent.key}` })
      .set(sent.headers ?? {})
      .buffer(true)
      .parse(toText);
    const text = typeof answer.body === 'string' ? answer.body : '';
    const { status, headers } = answer;
    return { status, headers, text, body: text === '' ? undefined : JSON.parse(text) };
  };
  const get = async (path: string, sent: Sent = {}): Promise<Answer> => {
    const answer = await send(path, sent);
    const { status, headers, text: body } = answer;
    // The sandbox has the contract of the service.
    const served = path.replace(/^\/sandbox(?=\/)/i, '');
    const exchange = { method: sent.method ?? 'GET', path: served, status, headers, body };
    holdToContract(exchange);
    noteExercised(exchange, sent.headers);
    return answer;
  };
  const { port } = server.address() as AddressInfo;
  return { store, db: store.db, port, get, send, logged, flush: app.flush, close };
}

type Parse = (error: Error | null, body: unknown) => void;

/** Returns the text unchanged: superagent would parse JSON, and return `{}` for an empty body. */
function toText(response: unknown, done: Parse): void {
  const chunks: Buffer[] = [];
  const stream = response as NodeJS.ReadableStream;
  stream.on('data', (chunk: Buffer | string) => chunks.push(Buffer.from(chunk)));
  stream.on('end', () => done(null, Buffer.concat(chunks).toString()));
}

type Method = 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete' | 'options' | 'trace';
const toFunctionName = (method: string) => method.toLowerCase() as Method;

/** The items of every page, from the first to the first empty one. */
export async function walk(
  get: (path: string) => Promise<Answer>,
  path: string,
  limit: number,
): Promise<{ readonly items: unknown[]; readonly totals: Set<number> }> {
  const items: unknown[] = [];
  const totals = new Set<number>();
  const join = path.includes('?') ? '&' : '?';
  for (let offset = 0; ; offset += limit) {
    const { body } = await get(`${path}${join}limit=${limit}&offset=${offset}`);
    items.push(...body.data);
    totals.add(body.total);
    if (body.data.length === 0) return { items, totals };
  }
}
