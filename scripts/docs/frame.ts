import { html, raw } from 'hono/html';
import { renderLogo } from '../../src/settings/frame/logo.ts';
import type { Html } from '../../src/settings/frame/text.ts';
import { GROUPS, MENU, type Page } from './pages.ts';

/** The file names of what pages load, each with a hash of its content. */
export interface Assets {
  readonly [name: string]: string;
}

/** What all pages have. */
export interface Common {
  readonly assets: Assets;
  /** The pages of operations and webhooks, which the menu has below the reference. */
  readonly operations: readonly Page[];
}

interface Framed extends Common {
  /** Its slug may be a path below the menu's pages, as `operations/list-domains`. */
  readonly page: Page;
  readonly main: string;
  /** Additional elements of the head, for a page with scripts and styles of its own. */
  readonly head?: string;
  /** A guide has its contents beside the text, an operation its samples; the reference has a menu of its own. */
  readonly layout?: 'guide' | 'operation' | 'whole';
}

/** A page with the site's head and menu, which scrolls by keys of its own where it is long. Links are relative, so that the site may be served under any path. */
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
    <nav aria-label="Documentation" tabindex="0"><details><summary>Menu <span>${page.title}</span></summary><div>${GROUPS.map((group) => renderGroup(group, framed, root))}</div></details></nav>
    ${raw(main)}
    ${renderNext(page)}
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

function renderGroup(group: string, framed: Framed, root: string) {
  const pages = MENU.filter((page) => page.group === group);
  const label = `menu-${group.toLowerCase()}`;
  return html`<section><span id="${label}">${group}</span>${renderLinks(pages, framed, root, label)}</section>`;
}

function renderLinks(pages: readonly Page[], framed: Framed, root: string, label: string): Html {
  const { slug: current } = framed.page;
  return html`<ul aria-labelledby="${label}">${pages.map(
    ({ slug, title }) =>
      html`<li><a href="${root}${toPath(slug)}" ${slug === current ? html`aria-current="page"` : ''}>${title}</a>${slug === 'operations' && current.startsWith(slug) ? renderLinks(framed.operations, framed, root, label) : ''}</li>`,
  )}</ul>`;
}

/** The link to the next page. */
function renderNext(page: Page) {
  const place = MENU.indexOf(page);
  const next = place === -1 ? undefined : MENU[place + 1];
  if (next === undefined) return '';
  return html`<footer><a href="${toPath(next.slug)}">Next: ${next.title}</a></footer>`;
}

function toPath(slug: string): string {
  return slug === 'index' ? '' : slug;
}
