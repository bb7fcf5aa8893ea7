import type { RequestListener, ServerResponse } from 'node:http';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { createSealings } from '../config/secrets-key.ts';
import { ConfigError } from '../config/variable.ts';
import { type About, checkReportRoute } from '../dns/route-lookup.ts';
import type { OpenSealing } from '../domain/access/sealing.ts';
import { Failure } from '../domain/failure.ts';
import { createExternalApi } from '../external/api.ts';
import type { ContractDocument } from '../external/contract/contract.ts';
import { answerErrors } from '../external/errors.ts';
import { type ApiRequest, toRequestId } from '../external/request.ts';
import { send, toBody } from '../external/send.ts';
import type { ClosableReportOriginals } from '../intake/parser/report-originals.ts';
import { type IpDatabase, openIpDatabase } from '../settings/pages/sources/ip-database.ts';
import { createSettings } from '../settings/settings.ts';
import { isReadable, type Store } from '../store/engine/open.ts';
import { addressOf } from './client-address.ts';
import type { Counters } from './counters/counters.ts';
import { serveDocs } from './docs.ts';
import { ERROR_SERIALIZERS, logRequests, withoutKeys } from './log.ts';

interface Given {
  readonly config: Pick<
    Config,
    'requestsPerIp' | 'requestsPerKey' | 'pageCacheBytes' | 'trustedProxies'
  > &
    Partial<Pick<Config, 'baseUrl' | 'singleSignOn' | 'redis' | 'secretsKeyFile'>> &
    Partial<Pick<Config, 'mailHost' | 'reportAddress' | 'smtpRecipients' | 'dnsServers'>> &
    Partial<Pick<Config, 'ipDatabase' | 'dnsChecks'>>;
  readonly store: Store;
  readonly now: () => Date;
  readonly log: Logger;
  /** The folder of the docs site, when it is not `site/`. */
  readonly site?: string | undefined;
  /** Whether the process is stopping: then readiness is denied. */
  readonly isStopping?: () => boolean;
  /** The contract to serve; openapi/v1.yaml when none is given. */
  readonly document?: ContractDocument;
  /** Serves the API alone. A sandbox has no sign-in, because its data is made up and its key is public. */
  readonly isSandbox?: boolean;
  /** What counts for several processes of this machine. Redis, where it is configured, counts for all machines. */
  readonly counters?: Counters | undefined;
}

export interface App {
  /** Answers requests: those of the API itself, all others with Express. */
  readonly listener: RequestListener;
  readonly express: Express;
  /** Writes what is still waiting to be written, before the store closes, and stops counting with others. */
  readonly flush: () => Promise<void>;
}

/** Creates the Express app and mounts every module on it. */
export async function createApp(given: Given): Promise<App> {
  const { config, store, log, now, document } = given;
  const openSealing = given.isSandbox ? undefined : openSealings(config);
  const counters = await openCounters(given);
  const createStore = counters?.createStore;
  const errors = log.child({}, { serializers: ERROR_SERIALIZERS });
  const logError = (error: unknown, req?: { id: string }) =>
    errors.error({ err: error, request_id: req && withoutKeys(req.id) }, 'unexpected error');
  const common = { ...config, store, now, logError, createStore };
  const reportReader = openLate(store);
  const external = await createExternalApi({ ...common, document });
  const networks = given.isSandbox ? undefined : await openNetworks(given);

  const app = express();
  app.disable('x-powered-by');
  // Entity tags and queries follow the contract, not the framework.
  app.disable('etag');
  app.set('query parser', false);
  app.set('trust proxy', config.trustedProxies.length > 0 ? config.trustedProxies : false);

  app.use(nameRequest);
  app.use('/docs', serveDocs(given.site));
  app.get('/', showBrowsersIn(given.isSandbox ? '/docs/' : '/settings'));
  if (!given.isSandbox) {
    const checkRoute = (about: About) => checkReportRoute(config.dnsServers ?? [], about);
    const pages = {
      ...{ checkRoute, reportReader, openSealing },
      findNetwork: networks?.find,
    };
    app.use('/settings', createSettings({ ...common, ...pages }));
  }
  app.get('/healthz', (req, res) => sendStatus(req, res, 'ok'));
  app.get('/readyz', answerReady(given, counters));
  app.use(() => {
    throw new Failure('not_found', 'No such path.');
  });
  app.use(answerExpressErrors(answerErrors(logError)));
  const listener = listen(app, external.listener, log);
  const flush = async () => {
    await external.flush();
    await reportReader.close();
    counters?.close();
    networks?.close();
  };
  return { listener: counters?.bound(listener) ?? listener, express: app, flush };
}

/** The client of Redis is loaded only where it is needed. A sandbox must not use up the limits of the service. */
async function openCounters({ config, log, counters, isSandbox }: Given) {
  if (config.redis === undefined || isSandbox) return counters;
  const { connectCounters } = await import('./counters/redis.ts');
  return await connectCounters(config.redis, log);
}

function openSealings({ secretsKeyFile }: Given['config']): OpenSealing | undefined {
  return secretsKeyFile && createSealings(secretsKeyFile);
}

/** What reads reports is loaded for the first page that needs it. */
function openLate({ db }: Store): ClosableReportOriginals {
  let opened: Promise<ClosableReportOriginals> | undefined;
  const open = () => {
    opened ??= import('../intake/parser/report-originals.ts').then((module) =>
      module.createReportOriginals(db),
    );
    return opened;
  };
  return {
    readRecords: async (...asked) => (await open()).readRecords(...asked),
    readDocument: async (...asked) => (await open()).readDocument(...asked),
    close: async () => (await opened)?.close(),
  };
}

/** A file that cannot be used is an error at start: pages without networks would be noticed late. */
async function openNetworks({ config, log }: Given): Promise<IpDatabase | undefined> {
  const { ipDatabase: file } = config;
  if (file === undefined) return undefined;
  const warn = (error: Error) =>
    log.warn({ err: error }, 'the database of networks stays the former');
  return await openIpDatabase(file, { warn }).catch((error: Error) => {
    throw new ConfigError(`PLUMBLINE_IP_DATABASE: ${error.message}`);
  });
}

/** In any case, as Express would match it. */
const API_PATH = /^\/v1\/external(?=[/?]|$)/i;

/**
 * What every request has: an id, an address and a line in the log. The API is answered before Express, whose
 * routing costs time that the API's few paths do not need.
 */
function listen(
  app: Express,
  api: (req: ApiRequest, res: ServerResponse) => Promise<void>,
  log: Logger,
): RequestListener {
  const toAddress = addressOf(app);
  const logRequest = logRequests(log);
  return (incoming, res) => {
    const req = incoming as ApiRequest;
    req.id = toRequestId(req);
    req.ip = toAddress(req);
    logRequest(req, res);
    if (API_PATH.test(req.url ?? '')) void api(req, res);
    else app(req, res);
  };
}

type AnswerError = ReturnType<typeof answerErrors>;

function answerExpressErrors(answer: AnswerError): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    if (!answer(error, req, res)) next(error);
  };
}

/** JSON answers set the request id themselves (send.ts). */
const nameRequest: RequestHandler = (req, res, next) => {
  res.setHeader('X-Request-Id', req.id);
  next();
};

/** Redirects a browser to the settings pages, or to the docs in a sandbox, which has no settings pages. */
function showBrowsersIn(path: string): RequestHandler {
  return (req, res, next) => {
    if (req.headers.accept?.includes('text/html')) res.redirect(303, path);
    else next();
  };
}

/**
 * Whether the service can work now, for load balancers. Limits that this process counts alone, because Redis
 * cannot be used, do not make it unready.
 */
function answerReady({ store, isStopping }: Given, counters?: Counters): RequestHandler {
  return async (req, res) => {
    const isReady = isStopping?.() !== true && (await isReadable(store));
    sendStatus(req, res, isReady ? 'ready' : 'unavailable', counters?.details());
  };
}

function sendStatus(
  req: Request,
  res: Response,
  status: 'ok' | 'ready' | 'unavailable',
  details: object = {},
): void {
  const headers = ['Cache-Control', 'no-store'];
  send(req, res, {
    status: status === 'unavailable' ? 503 : 200,
    headers,
    body: toBody({ status, ...details }),
  });
}
