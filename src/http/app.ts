import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { readVersion } from '../config/version.ts';
import { toClientAddress } from '../domain/client-address.ts';
import { Failure } from '../domain/failure.ts';
import { once } from '../domain/text.ts';
import { createExternalApi, type ExternalApi } from '../external/api.ts';
import type { Contract } from '../external/contract.ts';
import { answerErrors } from '../external/errors.ts';
import { type ApiRequest, toRequestId } from '../external/request.ts';
import { sendAnswer, toBody } from '../external/send.ts';
import { createDaysReads } from '../judging/reads.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { isReadable, READY_TIMEOUT_MS } from '../store/engine/open.ts';
import type { Store } from '../store/engine/store.ts';
import { findWriteFault, listFailingJobs, readFailing } from '../store/inbox/doors.ts';
import type { Counters } from './counters/counters.ts';
import { answerMissing, serveFront } from './front/front.ts';
import { ERROR_SERIALIZERS, logRequests, OTHER_AREAS, withoutKeys } from './log.ts';
import { openNetworks } from './networks.ts';
import { createSandbox, type Sandbox } from './sandbox.ts';
import { openSettings } from './settings.ts';

interface AppDeps {
  readonly config: Partial<Config> &
    Pick<Config, 'requestsPerIp' | 'requestsPerKey' | 'pageCacheBytes' | 'trustedProxies'>;
  readonly store: Store;
  readonly now: () => Date;
  readonly log: Logger;
  readonly metrics?: Metrics | undefined;
  /** The folder of the docs site, when it is not `site/`. */
  readonly site?: string | undefined;
  /** Whether the process is stopping: then readiness is denied. */
  readonly isStopping?: () => boolean;
  /** The file of Plumbline's own networks. */
  readonly shippedNetworks?: string;
  /** The contract to serve; openapi/v1.yaml when none is given. */
  readonly contract?: Contract;
  /** Serves the docs and the sandbox alone: the store is an empty one, so there is nobody to sign in. */
  readonly isSandbox?: boolean;
  /** How long a request of the sandbox waits for its data, in milliseconds. */
  readonly sandboxWaitMs?: number | undefined;
}

/** Loaded with the first request that needs it. */
const loadServices = () => import('../judging/known-services.ts');
const services = {
  findVersion: async () => (await loadServices()).findServicesVersion(),
};

/** Whether the last address of `X-Forwarded-For` is to be believed when a request comes from this address. */
export type IsTrusted = (address: string) => boolean;

export async function createApp(deps: AppDeps) {
  const { config, store, log, now, metrics, isSandbox = false, sandboxWaitMs } = deps;
  const errors = log.child({}, { serializers: ERROR_SERIALIZERS });
  const logError = (error: unknown, req?: { id: string }) =>
    errors.error({ err: error, request_id: req && withoutKeys(req.id) }, 'unexpected error');
  const counters = await openCounters(deps);
  const createStore = counters && ((limit: string) => counters.createStore(limit));
  const networks = await openNetworks({ ...config, shippedNetworks: deps.shippedNetworks }, log);
  const days = createDaysReads(store, { now, logError });
  const common = { ...config, store, now, logError, createStore, networks, days };
  const served = { ...common, services, readVersion, contract: deps.contract };
  const external = await createExternalApi(served);
  watchAll(metrics, external.measurePages, counters);
  const operations = external.contract.operations.map(({ operationId }) => operationId);
  metrics?.beginRequests([...operations, ...OTHER_AREAS]);
  const sandbox = createSandbox(external, { ...served, log, waitMs: sandboxWaitMs });
  // A server that has nothing else begins when it is made.
  if (isSandbox) await sandbox.openFirst();

  const app = express();
  app.disable('x-powered-by');
  // Entity tags and queries follow the contract, not the framework.
  app.disable('etag');
  app.set('query parser', false);
  app.set('trust proxy', config.trustedProxies.length > 0 ? config.trustedProxies : false);

  const front = { hasSandbox: true, ...config, site: deps.site, now, isSandbox };
  app.use(serveFront(front));
  if (!isSandbox) app.use('/settings', openSettings(common));
  app.get('/healthz', (req, res) => sendStatus(req, res, 'ok'));
  app.get('/readyz', answerReady(deps, counters));
  app.use(() => {
    throw new Failure('not_found', 'No such path.');
  });
  const answerError = answerErrors(logError);
  const answerPerson = answerMissing(front);
  const onError: ErrorRequestHandler = async (error: unknown, req, res, next) => {
    const isMissing = error instanceof Failure && error.code === 'not_found';
    if (isMissing && (await answerPerson(req, res, error.message))) return;
    if (!answerError(error, req, res)) next(error);
  };
  app.use(onError);
  const isTrusted: IsTrusted = (address) => app.get('trust proxy fn')(address, 0);
  /** Writes what is still waiting to be written, before the store closes, and stops counting with others. */
  const flush = async () => {
    await external.flush();
    sandbox.close();
    networks?.close();
    counters?.close();
  };
  return {
    /** Answers requests: those of the API itself, all others with Express. */
    listener: listen(
      app,
      { external, sandbox },
      { log, metrics, isTrusted, baseUrl: config.baseUrl },
    ),
    isTrusted,
    flush,
  };
}

function watchAll(
  metrics: Metrics | undefined,
  measure: () => { readonly pages: number; readonly bytes: number },
  counters: Counters | undefined,
): void {
  metrics?.watch('plumbline_kept_pages', 'Pages kept in memory.', () => measure().pages);
  metrics?.watch('plumbline_kept_page_bytes', 'Their size.', () => measure().bytes);
  const isAlone = () => Number(counters?.isShared() === false);
  metrics?.watch('plumbline_limits_alone', 'Whether limits are counted without Redis.', isAlone);
}

async function openCounters({ config, log }: AppDeps): Promise<Counters | undefined> {
  if (config.redis === undefined) return undefined;
  return (await import('./counters/redis.ts')).countInRedis(config.redis, log);
}

/** The API, and its operations as tools, of the service or the sandbox. Matches upper and lower case, as Express does. */
const API_PATH = /^(\/sandbox)?\/(?:v1\/external(?=[/?]|$)|(mcp)\/?(?=\?|$))/i;

/** Adds an id, an address and a log line. The API skips Express's routing, which costs time for its few paths. */
function listen(
  app: Express,
  { external, sandbox }: { readonly external: ExternalApi; readonly sandbox: Sandbox },
  {
    log,
    metrics,
    isTrusted,
    baseUrl,
  }: Pick<AppDeps, 'log' | 'metrics'> &
    Partial<Pick<Config, 'baseUrl'>> & { readonly isTrusted: IsTrusted },
): RequestListener {
  const logRequest = logRequests(log, metrics);
  const loadMcp = once(() =>
    import('../mcp/mcp.ts').then(({ createMcp }) =>
      createMcp(external.agents, { version: readVersion(), baseUrl }),
    ),
  );
  return (incoming, res) => {
    const req = incoming as ApiRequest;
    req.id = toRequestId(req);
    req.ip = findAddress(req, isTrusted);
    logRequest(req, res);
    const [path, ofSandbox, ofAgent] = API_PATH.exec(req.url ?? '') ?? [];
    const answer = async ({ listener, agents }: ExternalApi) =>
      ofAgent === undefined ? listener(req, res) : (await loadMcp())(agents, req, res);
    if (ofSandbox !== undefined) return void sandbox.listener(req, res, answer);
    if (path !== undefined) return void answer(external);
    // JSON answers set it themselves (send.ts).
    res.setHeader('X-Request-Id', req.id);
    app(req, res);
  };
}

/** The address for limits and the audit. Express would use the last untrusted `X-Forwarded-For` entry unchecked. */
function findAddress({ socket, headers }: ApiRequest, isTrusted: IsTrusted): string {
  const header = headers['x-forwarded-for'];
  const forwardedFor = Array.isArray(header) ? header.join(',') : header;
  return toClientAddress({ peer: socket.remoteAddress ?? '', forwardedFor, isTrusted });
}

/**
 * Answers load balancers. Neither limits that this process counts alone, without Redis, nor a door or a job that fails make the
 * service unready: it answers all the same.
 */
function answerReady(
  { store, isStopping }: AppDeps,
  counters: Counters | undefined,
): RequestHandler {
  const isWritable = createWriteCheck(store);
  return async (req, res) => {
    const answers = isStopping?.() ? [false] : await Promise.all([isReadable(store), isWritable()]);
    const isReady = answers.every(Boolean);
    const limits = counters?.isShared() ? 'shared' : 'own';
    const failing = isReady ? await listFailing(store).catch(() => ({})) : {};
    const isShort = (await store.db.findShortage()) !== undefined;
    sendStatus(req, res, isReady ? 'ready' : 'unavailable', {
      ...(counters && { limits }),
      ...(isShort && { disk: 'short' }),
      ...toForwarding(req),
      ...failing,
    });
  };
}

/** How often a row is written: a full disk refuses nothing else. */
const WRITE_EVERY_MS = 30_000;

/** A database that is only busy can be written. One check at a time waits for it. */
function createWriteCheck({ db }: Store): () => Promise<boolean> {
  let checking: ReturnType<typeof findWriteFault> | undefined;
  let known: string | undefined;
  let writtenAt = Number.NEGATIVE_INFINITY;
  const check = async () => {
    const isOften = known === undefined && performance.now() - writtenAt < WRITE_EVERY_MS;
    known = await findWriteFault(db, isOften);
    if (!isOften) writtenAt = performance.now();
    checking = undefined;
    return known;
  };
  return async () => {
    checking ??= check();
    // While somebody holds the lock for longer than a write waits, the last write that gave up is what is known.
    const late = sleep(READY_TIMEOUT_MS, undefined, { ref: false }).then(() => known);
    return (await Promise.race([checking, late])) === undefined;
  };
}

/** The names alone: whoever asks may not know more. */
async function listFailing({ db }: Store): Promise<object> {
  const doors = [...(await readFailing(db))].filter(([, isFailing]) => isFailing);
  const jobs = [...(await listFailingJobs(db)).keys()];
  return {
    ...(doors.length > 0 && { failing_doors: doors.map(([door]) => door) }),
    ...(jobs.length > 0 && { failing_jobs: jobs }),
  };
}

/** Says whether somebody who is not trusted passes on requests for others: they all count as one. */
function toForwarding({ app, headers, socket }: Request): object {
  const isTrusted = app.get('trust proxy fn')(socket.remoteAddress ?? '', 0);
  return headers['x-forwarded-for'] === undefined || isTrusted ? {} : { forwarded_for: 'ignored' };
}

function sendStatus(
  req: Request,
  res: Response,
  status: 'ok' | 'ready' | 'unavailable',
  details: object = {},
): void {
  sendAnswer(req, res, {
    status: status === 'unavailable' ? 503 : 200,
    headers: ['Cache-Control', 'no-store'],
    body: toBody({ status, ...details }),
  });
}
