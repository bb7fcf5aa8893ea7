import { stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { type RequestHandler, type Response, Router } from 'express';
import helmet from 'helmet';
import Negotiator from 'negotiator';
import { chooseCoding, IMMUTABLE } from '../domain/content-coding.ts';
import { Failure } from '../domain/failure.ts';
import type { SendFile } from './front/texts.ts';

/** The output folder of `npm run docs`. */
export const SITE = fileURLToPath(new URL('../../site/', import.meta.url));

const NOT_BUILT = 'The docs are not built here: `npm run docs` builds them.';

/** A page, or a text. Names without dots are in no folder outside the site. */
const PAGE = /^(\/|(?:\/[\w-]+)+)(\.md|\.txt)?$/;

/** The docs site under `/docs`: static files, with a policy that allows requests to this server only. */
export function serveDocs(site: string, sendFile: SendFile): Router {
  const router = Router({ caseSensitive: true });
  router.use(pageHeaders(), toCleanPath, ignoreConditions);
  router.get('/reference', referenceHeaders);
  router.get('/404', answerMissing(site, sendFile));
  router.get(PAGE, servePages(sendFile));
  router.use('/assets', preferCompressed, serve(join(site, 'assets'), setAssetHeaders));
  router.use(serve(site, (res) => res.set('Cache-Control', 'no-cache')));
  router.use(answerMissing(site, sendFile));
  return router;
}

/** Files are sent as a whole: for a range outside the file, express would answer 500. */
function serve(folder: string, setHeaders: (res: Response, path: string) => void): RequestHandler {
  return express.static(folder, { acceptRanges: false, redirect: false, setHeaders });
}

/** A page as HTML, or as Markdown for who prefers it or names its file. */
function servePages(sendFile: SendFile): RequestHandler {
  return async ({ params: { 0: path, 1: type } }, res, next) => {
    const name = path === '/' ? '/index' : path;
    const types = type ? [type] : listPreferred(res.vary('Accept'));
    for (const each of types) if (await sendFile(res, `${name}${each}`)) return;
    next();
  };
}

/** A page that has no text, and a client that accepts neither, get HTML. */
function listPreferred({ req }: Response): readonly string[] {
  const preferred = new Negotiator(req).mediaType(['text/html', 'text/markdown']);
  return preferred === 'text/markdown' ? ['.md', '.html'] : ['.html'];
}

/** Where a page is, for the end of a sentence: a checkout has the site only once it was built. */
export async function tellDocs(address: string, site: string = SITE): Promise<string> {
  if (await isBuilt(site)) return `at ${address}`;
  return 'in the docs, which are not built here: npm run docs builds them.';
}

export async function isBuilt(site: string = SITE): Promise<boolean> {
  return (await stat(join(site, 'index.html')).catch(() => undefined)) !== undefined;
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

/** Browsers get an HTML page; other clients get the error body of the API. The site may be built while the server runs. */
function answerMissing(site: string, sendFile: SendFile): RequestHandler {
  return async ({ headers }, res) => {
    const isForPeople = headers.accept?.includes('text/html');
    if (isForPeople && (await sendFile(res.status(404), '404.html'))) return;
    throw new Failure('not_found', (await isBuilt(site)) ? 'No such path.' : NOT_BUILT);
  };
}

/** No inline code and no other origins. */
const policy = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
  connectSrc: ["'self'"],
  formAction: ["'none'"],
  baseUri: ["'none'"],
  frameAncestors: ["'none'"],
};

/** The security headers of a page outside the settings; `others` take the place of directives of the policy. */
export function pageHeaders(others: Readonly<Record<string, readonly string[]>> = {}) {
  const directives = { ...policy, ...others };
  return helmet({ contentSecurityPolicy: { useDefaults: false, directives } });
}

/** Redoc writes inline styles, has small images in them, and searches in a worker that it creates itself. */
const referenceHeaders = pageHeaders({
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  fontSrc: ['data:'],
  workerSrc: ['blob:'],
});
