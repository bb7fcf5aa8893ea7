import { html, raw } from 'hono/html';
import { renderLogo } from '../../src/settings/frame/logo.ts';
import { GROUPS, PAGES, type Page } from './pages.ts';

/** The file names of what pages load, each with a hash of its content. */
export interface Assets {
  readonly [name: string]: string;
}

interface Framed {
  /** Its slug may be a path below the menu's pages, as `operations/list-domains`. */
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
  const root = '../'.repeat(page.slug.split('/').length - 1) || './';
  const title = page.slug === 'index' ? 'Plumbline API' : `${page.title} · Plumbline API`;
  const text = await html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>${title}</title>
    <meta name="description" content="${page.description}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    ${page.slug === '404' ? '' : renderAddresses(page, root)}
    <link rel="icon" type="image/svg+xml" href="${root}${assets['icon.svg']}">
    <link rel="stylesheet" href="${root}${assets['docs.css']}">
    <script src="${root}${assets['docs.js']}" defer></script>
    ${raw(head)}
  </head>
  <body class="${layout}">
    <a class="skip" href="#main">Skip to content</a>
    <header>
      <a class="brand" href="${root}">${renderLogo()}Plumbline <span>API</span></a>
      ${renderSearch(root, assets)}
    </header>
    <nav aria-label="Documentation"><details><summary>Menu</summary>${GROUPS.map((group) => renderGroup(group, page, root))}</details></nav>
    ${raw(main)}
    ${layout === 'guide' ? renderNext(page) : ''}
  </body>
</html>
`;
  return String(text);
}

/** Where the page is, and the same as Markdown. */
function renderAddresses({ slug }: Page, root: string) {
  return html`<link rel="canonical" href="${root}${toPath(slug)}">
    <link rel="alternate" type="text/markdown" href="${root}${slug}.md">`;
}

/** The script that searches shows the field. */
function renderSearch(root: string, assets: Assets) {
  return html`<search hidden data-root="${root}" data-index="${root}${assets['search.json']}">
        <label class="unseen" for="search">Search the docs</label>
        <input id="search" type="search" placeholder="Search" autocomplete="off" spellcheck="false">
        <p class="unseen" role="status"></p>
        <ol hidden></ol>
      </search>`;
}

function renderGroup(group: string, current: Page, root: string) {
  const pages = PAGES.filter((page) => page.group === group);
  const label = group.toLowerCase();
  return html`<div><span id="menu-${label}">${group}</span><ul aria-labelledby="menu-${label}">${pages.map((page) => renderLink(page, current, root))}</ul></div>`;
}

function renderLink({ slug, title }: Page, current: Page, root: string) {
  const isHere = slug === current.slug;
  return html`<li><a href="${root}${toPath(slug)}" ${isHere ? html`aria-current="page"` : ''}>${title}</a></li>`;
}

/** The link to the next page. */
function renderNext(page: Page) {
  const place = PAGES.indexOf(page);
  const next = place === -1 ? undefined : PAGES[place + 1];
  if (next === undefined) return '';
  return html`<footer><a href="${toPath(next.slug)}">Next: ${next.title}</a></footer>`;
}

function toPath(slug: string): string {
  return slug === 'index' ? '' : slug;
}
