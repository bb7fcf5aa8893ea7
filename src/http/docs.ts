import { stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { type RequestHandler, type Response, Router } from 'express';
import helmet from 'helmet';
import { chooseCoding, IMMUTABLE } from '../domain/content-coding.ts';
import { Failure } from '../domain/failure.ts';

/** The output folder of `npm run docs`. */
const SITE = fileURLToPath(new URL('../../site/', import.meta.url));

/** Files are sent as a whole: for a range outside the file, express would answer 500. */
const WHOLE = { acceptRanges: false };

/** The docs site under `/docs`: static files, with a policy that allows requests to this server only. */
export function serveDocs(site: string = SITE): Router {
  const router = Router({ caseSensitive: true });
  router.use(requireSite(site), pageHeaders, toCleanPath, ignoreConditions);
  router.get('/reference', referenceHeaders);
  router.get('/404', answerMissing(site));
  router.use('/assets', preferCompressed, serve(join(site, 'assets'), setAssetHeaders));
  router.use(serve(site, (res) => res.set('Cache-Control', 'no-cache')));
  router.use(answerMissing(site));
  return router;
}

function serve(folder: string, setHeaders: (res: Response, path: string) => void): RequestHandler {
  return express.static(folder, { ...WHOLE, extensions: ['html'], redirect: false, setHeaders });
}

/** Where a page is, for the end of a sentence: a checkout has the site only once it was built. */
export async function tellDocs(address: string, site: string = SITE): Promise<string> {
  if (await isBuilt(site)) return `at ${address}`;
  return 'in the docs, which are not built here: npm run docs builds them.';
}

export async function isBuilt(site: string = SITE): Promise<boolean> {
  return (await stat(join(site, 'index.html')).catch(() => undefined)) !== undefined;
}

/** The site may be built while the server runs. */
function requireSite(site: string): RequestHandler {
  return async (_req, _res, next) => {
    if (await isBuilt(site)) return next();
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

/** These two conditions are for writing, and the API ignores them too. express would answer them with 500. */
const ignoreConditions: RequestHandler = ({ headers }, _res, next) => {
  delete headers['if-match'];
  delete headers['if-unmodified-since'];
  next();
};

/** File names in `assets/` contain a hash of the content. Beside each file is its compressed form. */
const preferCompressed: RequestHandler = (req, res, next) => {
  res.set('Vary', 'Accept-Encoding');
  if (chooseCoding(req, ['br']) === 'br') req.url += '.br';
  next();
};

const setAssetHeaders = (res: Response, path: string): void => {
  res.set('Cache-Control', IMMUTABLE);
  if (!path.endsWith('.br')) return;
  res.set('Content-Encoding', 'br').type(extname(path.slice(0, -'.br'.length)));
};

/** Browsers get an HTML page; other clients get the error body of the API. */
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

/** No inline code and no other origins. */
const pageHeaders = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: policy },
});

/** Redoc writes inline styles, has small images in them, and searches in a worker that it creates itself. */
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
