import { type Request, type Response, Router } from 'express';
import Negotiator from 'negotiator';
import { toOwnAddress } from '../../domain/own-address.ts';
import { SANDBOX_PATH } from '../../domain/sandbox.ts';
import { isBuilt, pageHeaders, SITE, serveDocs } from '../docs.ts';
import * as front from './about.ts';
import { openTexts, sendParts } from './texts.ts';

type Render = (about: front.About) => string | undefined | Promise<string>;
const PLAIN = 'text/plain; charset=utf-8';
const LINKSET = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';
const JSON_TYPE = 'application/json';
const PUBLIC = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET',
  'Access-Control-Allow-Headers': 'Content-Type, If-None-Match',
  'Access-Control-Expose-Headers': 'ETag',
};
const toJson = (value: object | undefined) => value && `${JSON.stringify(value)}\n`;
/** Relations of RFC 8631 and of RFC 9727, which asks for its own in an answer to HEAD (section 2). */
const LINKS =
  '</.well-known/api-catalog>; rel="api-catalog", </docs/v1.yaml>; rel="service-desc", ' +
  '</docs/>; rel="service-doc", </readyz>; rel="status"';

/** What somebody finds who knows the address alone: the first page, the docs, and the files that programs look for. */
export function serveFront(deps: front.FrontDeps): Router {
  const { site = SITE, now, contact } = deps;
  const router = Router({ caseSensitive: true, strict: true });
  const sendFile = openTexts(site, deps.baseUrl);
  const describe = async (res: Response) => describeFor(res.set('Link', LINKS), deps);
  const serve = (path: string, type: string, render: Render) =>
    router.get(path, pageHeaders(), async (_req, res, next) => {
      const text = await render(await describe(res));
      if (text === undefined) return next();
      // Express's own method would give JSON a charset.
      await sendParts(res.setHeader('Content-Type', type), [Buffer.from(text)]);
    });
  router.get('/', async (req, res, next) => {
    if (!isForPeople(req, res)) return next();
    // Loaded for the first person: a process that serves programs alone renders no page.
    await (await import('./home.ts')).sendHome(res, await describe(res));
  });
  serve('/', JSON_TYPE, toJson);
  serve('/robots.txt', PLAIN, front.renderRobots);
  serve('/sitemap.xml', 'application/xml', (about) => front.renderSitemap(about, site));
  if (contact)
    serve('/.well-known/security.txt', PLAIN, (about) => front.renderSecurity(about, now()));
  serve('/.well-known/api-catalog', LINKSET, front.renderCatalog);
  for (const path of ['/v1', '/v1/'])
    serve(path, JSON_TYPE, (about) => toJson(front.describeApi(about)));
  for (const path of [SANDBOX_PATH, `${SANDBOX_PATH}/`, `${SANDBOX_PATH}/v1`])
    serve(path, JSON_TYPE, (about) => toJson(front.describeSandbox(about)));
  // Pages of any site may read them, as the extension asks: they have nothing that is not public.
  for (const path of [
    '/.well-known/ai-catalog.json',
    '/mcp/server-card',
    '/sandbox/mcp/server-card',
  ])
    router.get(path, (_req, res, next) => next(void res.set(PUBLIC)));
  serve('/.well-known/ai-catalog.json', 'application/ai-catalog+json', front.renderAgents);
  serve('/mcp/server-card', front.CARD_TYPE, (about) => front.renderCard(about, 'plumbline'));
  serve('/sandbox/mcp/server-card', front.CARD_TYPE, (about) =>
    front.renderCard(about, 'plumbline-sandbox'),
  );
  router.get('/llms.txt', pageHeaders(), async (_req, res, next) => {
    if (!(await sendFile(res, 'llms.txt'))) next();
  });
  router.use('/docs', serveDocs(site, sendFile));
  return router;
}

async function describeFor({ req }: Response, deps: front.FrontDeps): Promise<front.About> {
  const docs = await isBuilt(deps.site ?? SITE);
  return front.describeServer(toOwnAddress(req, deps.baseUrl), deps, docs);
}

function isForPeople(req: Request, res: Response): boolean {
  res.vary('Accept');
  return new Negotiator(req).mediaType(['application/json', 'text/html']) === 'text/html';
}

/** Says at a path where nothing is so with a page, and resolves with false for programs. */
export function answerMissing(deps: front.FrontDeps) {
  return async (req: Request, res: Response, message: string): Promise<boolean> => {
    if (res.headersSent || (req.method !== 'GET' && req.method !== 'HEAD')) return false;
    if (!isForPeople(req, res)) return false;
    await (await import('./home.ts')).sendMissing(res, await describeFor(res, deps), message);
    return true;
  };
}
