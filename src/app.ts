import express, { type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { Failure } from './domain/failure.ts';
import { createExternalApi } from './external/api.ts';
import { answerErrors } from './external/errors.ts';
import { requestId } from './external/request-id.ts';
import { logRequests } from './log.ts';
import { createSettings } from './settings/settings.ts';
import { isReadable, type Store } from './store/open.ts';

interface Given {
  readonly config: Pick<
    Config,
    'requestsPerIp' | 'requestsPerKey' | 'pageCacheBytes' | 'trustedProxies'
  > &
    Partial<Pick<Config, 'baseUrl' | 'singleSignOn'>>;
  readonly store: Store;
  readonly now: () => Date;
  readonly log: Logger;
  /** Whether the process is on its way out: then no new request should come. */
  readonly isStopping?: () => boolean;
}

export interface App {
  readonly express: Express;
  /** Writes what is still to be written, before the store closes. */
  readonly flush: () => Promise<void>;
}

/** The rooms, hung on Express. */
export async function createApp(given: Given): Promise<App> {
  const { config, store, log } = given;
  const logError = (error: unknown, req?: { id: string }) =>
    log.error({ err: error, request_id: req?.id }, 'unexpected error');
  const external = await createExternalApi({ ...config, store, now: given.now, logError });

  const app = express();
  app.disable('x-powered-by');
  // Entity tags and queries are the contract's, not guesses of the framework.
  app.disable('etag');
  app.set('query parser', false);
  app.set('trust proxy', config.trustedProxies.length > 0 ? config.trustedProxies : false);

  app.use(requestId, logRequests(log), securityHeaders);
  app.use('/v1/external', external.router);
  app.get('/', showBrowsersIn);
  app.use('/settings', createSettings({ ...config, store, now: given.now, logError }));
  app.get('/healthz', (_req, res) => void res.json({ status: 'ok' }));
  app.get('/readyz', answerReady(given));
  app.use(() => {
    throw new Failure('not_found', 'No such path.');
  });
  app.use(answerErrors(logError));
  return { express: app, flush: external.flush };
}

/** Whoever comes with a browser means the settings pages. */
const showBrowsersIn: RequestHandler = (req, res, next) => {
  if (req.headers.accept?.includes('text/html')) res.redirect(303, '/settings');
  else next();
};

/** JSON is no page: it loads nothing, is framed nowhere, and is nobody's referrer. */
const securityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
});

/** Whether the service can do its work now; a load balancer asks. */
function answerReady({ store, isStopping }: Given): RequestHandler {
  return async (_req, res) => {
    const isReady = isStopping?.() !== true && (await isReadable(store));
    res.status(isReady ? 200 : 503).json({ status: isReady ? 'ready' : 'unavailable' });
  };
}
