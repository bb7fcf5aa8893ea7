import { stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { type RequestHandler, type Response, Router } from 'express';
import helmet from 'helmet';
import Negotiator from 'negotiator';
import { Failure } from './domain/failure.ts';

/** Where `npm run docs` puts the site. */
const SITE = fileURLToPath(new URL('../site/', import.meta.url));

/** Files are sent whole: of a range that is not there express would make a fault of ours. */
const WHOLE = { acceptRanges: false };

/** The docs site under `/docs`: static files, under a policy that lets them ask nobody but us. */
export function serveDocs(site: string = SITE): Router {
  const router = Router({ caseSensitive: true });
  router.use(requireSite(site), pageHeaders, toCleanPath, ignoreConditions);
  router.get('/reference', referenceHeaders);
  router.get('/404', answerMissing(site));
  router.use('/assets', preferCompressed, serve(join(site, 'assets'), setAssetHeaders));
  router.use(serve(site, setPageHeaders));
  router.use(answerMissing(site));
  return router;
}

function serve(folder: string, setHeaders: (res: Response, path: string) => void): RequestHandler {
  return express.static(folder, { ...WHOLE, extensions: ['html'], redirect: false, setHeaders });
}

/** A site may be built while the server runs. */
function requireSite(site: string): RequestHandler {
  return async (_req, _res, next) => {
    const isBuilt = await stat(join(site, 'index.html')).catch(() => undefined);
    if (isBuilt !== undefined) return next();
    throw new Failure('not_found', 'The docs are not built here: `npm run docs` builds them.');
  };
}

/** One address for each page: `/docs/`, `/docs/errors`. */
const toCleanPath: RequestHandler = (req, res, next) => {
  const { path } = req;
  const isBare = req.originalUrl.split('?', 1)[0] === req.baseUrl;
  const clean = path.replace(/^\/index(\.html)?$/, '/').replace(/(?<=.)(\.html|\/)$/, '');
  if (!isBare && clean === path) next();
  else res.redirect(301, `/docs${clean}`);
};

/** These two are for writing, and the API does not look at them either; express would make a fault of ours of them. */
const ignoreConditions: RequestHandler = ({ headers }, _res, next) => {
  delete headers['if-match'];
  delete headers['if-unmodified-since'];
  next();
};

/** Names in `assets/` have a hash of the content in them; beside each lies the same, compressed. */
const preferCompressed: RequestHandler = (req, res, next) => {
  res.set('Vary', 'Accept-Encoding');
  if (new Negotiator(req).encoding(['br', 'identity']) === 'br') req.url += '.br';
  next();
};

const setAssetHeaders = (res: Response, path: string): void => {
  res.set('Cache-Control', 'public, max-age=31536000, immutable');
  if (!path.endsWith('.br')) return;
  res.set('Content-Encoding', 'br').type(extname(path.slice(0, -'.br'.length)));
};

const setPageHeaders = (res: Response): void => {
  res.set('Cache-Control', 'no-cache');
};

/** Browsers get a page; whoever did not ask for one gets the one shape of errors. */
function answerMissing(site: string): RequestHandler {
  return (req, res) => {
    if (!req.headers.accept?.includes('text/html')) {
      throw new Failure('not_found', 'No such path.');
    }
    res
      .status(404)
      .set('Cache-Control', 'no-store')
      .sendFile('404.html', { ...WHOLE, root: site });
  };
}

const policy = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
  formAction: ["'none'"],
  baseUri: ["'none'"],
  frameAncestors: ["'none'"],
};

/** Nothing inline, nothing from elsewhere. */
const pageHeaders = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: policy },
});

/** Redoc writes its styles as it draws, has small pictures in them, and searches in a worker that it makes itself. */
const referenceHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      ...policy,
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      fontSrc: ['data:'],
      workerSrc: ['blob:'],
    },
  },
});
