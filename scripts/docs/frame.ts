import { html, raw } from 'hono/html';
import { renderLogo } from '../../src/settings/frame/logo.ts';
import { PAGES, type Page } from './pages.ts';

/** The file names of what pages load, each with a hash of its content. */
export interface Assets {
  readonly [name: string]: string;
}

interface Framed {
  readonly page: Page;
  readonly assets: Assets;
  readonly main: string;
  /** Additional elements of the head, for a page with scripts and styles of its own. */
  readonly head?: string;
  readonly layout?: 'guide' | 'whole';
}

/** A page with the site's head and menu. Links are relative, so that the site may be served under any path. */
export async function renderPage(framed: Framed): Promise<string> {
  const { page, assets, main, head = '', layout = 'guide' } = framed;
  const title = page.slug === 'index' ? 'Plumbline API' : `${page.title} · Plumbline API`;
  const text = await html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>${title}</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <link rel="icon" type="image/svg+xml" href="${assets['icon.svg']}">
    <link rel="stylesheet" href="${assets['docs.css']}">
    ${raw(head)}
  </head>
  <body class="${layout}">
    <a class="skip" href="#main">Skip to content</a>
    <header><a class="brand" href="./">${renderLogo()}Plumbline <span>API</span></a></header>
    <nav aria-label="Documentation"><ul>${PAGES.map((item) => renderLink(item, page))}</ul></nav>
    ${raw(main)}
    ${layout === 'guide' ? renderNext(page) : ''}
  </body>
</html>
`;
  return String(text);
}

function renderLink({ slug, title }: Page, current: Page) {
  const isHere = slug === current.slug;
  return html`<li><a href="${toPath(slug)}" ${isHere ? html`aria-current="page"` : ''}>${title}</a></li>`;
}

/** The link to the next page. */
function renderNext(page: Page) {
  const place = PAGES.indexOf(page);
  const next = place === -1 ? undefined : PAGES[place + 1];
  if (next === undefined) return '';
  return html`<footer><a href="${toPath(next.slug)}">Next: ${next.title}</a></footer>`;
}

function toPath(slug: string): string {
  return slug === 'index' ? './' : slug;
}
