import { type Response, Router } from 'express';
import Negotiator from 'negotiator';
import { toOwnAddress } from '../../domain/own-address.ts';
import { isBuilt, pageHeaders, SITE, serveDocs } from '../docs.ts';
import * as front from './about.ts';
import { openTexts, sendParts } from './texts.ts';

type Render = (about: front.About) => string | Promise<string>;
const PLAIN = 'text/plain; charset=utf-8';
const LINKSET = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';
/** Relations of RFC 8631 and of RFC 9727, which asks for its own in an answer to HEAD (section 2). */
const LINKS =
  '</.well-known/api-catalog>; rel="api-catalog", </docs/v1.yaml>; rel="service-desc", ' +
  '</docs/>; rel="service-doc", </readyz>; rel="status"';

/** What somebody finds who knows the address alone: the first page, the docs, and the files that programs look for. */
export function serveFront(deps: front.FrontDeps): Router {
  const { site = SITE, now, contact } = deps;
  const router = Router({ caseSensitive: true, strict: true });
  const sendFile = openTexts(site, deps.baseUrl);
  const describe = async (res: Response) => {
    res.set('Link', LINKS);
    return front.describeServer(toOwnAddress(res.req, deps.baseUrl), deps, await isBuilt(site));
  };
  const serve = (path: string, type: string, render: Render) =>
    router.get(path, pageHeaders(), async (_req, res) => {
      const text = await render(await describe(res));
      // Express's own method would give JSON a charset.
      sendParts(res.setHeader('Content-Type', type), [Buffer.from(text)]);
    });
  router.get('/', async (req, res, next) => {
    const wanted = new Negotiator(req).mediaType(['application/json', 'text/html']);
    res.vary('Accept');
    if (wanted !== 'text/html') return next();
    // Loaded for the first person: a process that serves programs alone renders no page.
    await (await import('./home.ts')).sendHome(res, await describe(res));
  });
  serve('/', 'application/json', (about) => `${JSON.stringify(about)}\n`);
  serve('/robots.txt', PLAIN, front.renderRobots);
  serve('/sitemap.xml', 'application/xml', (about) => front.renderSitemap(about, site));
  if (contact)
    serve('/.well-known/security.txt', PLAIN, (about) => front.renderSecurity(about, now()));
  serve('/.well-known/api-catalog', LINKSET, front.renderCatalog);
  router.get('/llms.txt', pageHeaders(), async (_req, res, next) => {
    if (!(await sendFile(res, 'llms.txt'))) next();
  });
  router.use('/docs', serveDocs(site, sendFile));
  return router;
}
