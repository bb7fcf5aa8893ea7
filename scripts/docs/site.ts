import { hash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import GithubSlugger from 'github-slugger';
import { html } from 'hono/html';
import { rolldown } from 'rolldown';
import { parse } from 'yaml';
import { listAgentFiles } from './agents.ts';
import type { Contract } from './drawn.ts';
import { type Assets, type Common, renderPage } from './frame.ts';
import { findDeadLinks } from './links.ts';
import { addContents, renderMarkdown } from './markdown.ts';
import { toHtml } from './operations/as-html.ts';
import type { BlockPage } from './operations/blocks.ts';
import type { ApiContract } from './operations/contract.ts';
import { listOperationPages } from './operations/pages.ts';
import { GUIDES, PAGES, type Page, readChanges, readGuide } from './pages.ts';
import { buildReference, type Reference } from './reference.ts';
import { listGuideEntries, listOperationEntries } from './search.ts';

/** Every file of the site, by name. */
export type Site = ReadonlyMap<string, Buffer | string>;

const WORKFLOWS = 'workflows.arazzo.yaml';
/** What MiniSearch's licence asks for. */
const NOTICE = '/*! With MiniSearch, MIT licence, copyright Luca Ongaro. */';

/** In the order in which they are joined into the one stylesheet. */
const STYLE = [
  ...['palette', 'scale', 'base', 'brand', 'unseen', 'code'].map(
    (name) => `../../src/settings/frame/assets/style/${name}.css`,
  ),
  ...['frame', 'search', 'words', 'samples', 'operations'].map(
    (name) => `assets/style/${name}.css`,
  ),
];

/**
 * Builds the whole site in memory. Throws when a link in it is broken. Redoc takes a minute: a test of other
 * pages draws the reference by something else.
 */
export async function buildSite(draw = buildReference): Promise<Site> {
  const read = (name: string) =>
    readFile(new URL(`../../openapi/${name}`, import.meta.url), 'utf8');
  const yaml = await read('v1.yaml');
  const contract: Contract & ApiContract = parse(yaml);
  const reference = await draw(contract);
  const files = new Map<string, Buffer | string>([
    ['v1.yaml', yaml],
    ['v1.json', `${JSON.stringify(contract, null, 2)}\n`],
    [WORKFLOWS, await read(WORKFLOWS)],
    ['feed.svg', await read('feed.svg')],
    ...(await readPictures()),
  ]);
  const operations = listOperationPages(contract);
  const texts = [
    ...GUIDES.map((page) => ({ page, text: readGuide(page.slug) })),
    { page: at('changelog'), text: readChanges() },
  ];
  const found = [
    ...texts.flatMap(({ page, text }) => listGuideEntries(page, text)),
    ...listOperationEntries(operations),
  ];
  const assets = await addAssets(files, reference, JSON.stringify(found));
  const pages = new Map<string, string>();
  const common = { assets, operations: operations.slice(1) };
  for (const { page, text } of texts) pages.set(page.slug, await renderGuide(page, text, common));
  for (const page of operations) pages.set(page.slug, await renderOperation(page, common));
  for (const [name, text] of listAgentFiles(operations)) files.set(name, text);
  holdLinks(pages, new Set([...files.keys(), 'reference', '404']), contract);
  pages.set('reference', await renderReference(reference, common));
  pages.set('404', await renderMissing(common));
  for (const [slug, page] of pages) files.set(`${slug}.html`, page);
  return files;
}

/** What the page at `/` shows. */
async function readPictures(): Promise<[string, Buffer][]> {
  const names = ['overview-light.webp', 'overview-dark.webp'];
  const read = (name: string) => readFile(new URL(`../../docs/pictures/${name}`, import.meta.url));
  return await Promise.all(names.map(async (name) => [name, await read(name)]));
}

/** Replaces the former site. */
export async function writeSite(site: Site, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  for (const [name, content] of site) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
}

/** Styles and scripts, each named by its content, and compressed once. */
async function addAssets(
  files: Map<string, Buffer | string>,
  reference: Reference,
  searched: string,
): Promise<Assets> {
  const own = (path: string) => readFile(new URL(path, import.meta.url), 'utf8');
  const contents = {
    'docs.css': (await Promise.all(STYLE.map(own))).join('\n'),
    'docs.js': await joinScripts(),
    'search.json': searched,
    'icon.svg': await own('../../src/settings/frame/assets/icon.svg'),
    'redoc.css': reference.css,
    'reference.css': await own('assets/reference.css'),
    'color.js': reference.colorScript,
    'redoc.js': reference.script,
  };
  const assets: Record<string, string> = {};
  for (const [name, content] of Object.entries(contents)) {
    const hashed = `assets/${name.replace('.', `.${hash('sha256', content, 'hex').slice(0, 12)}.`)}`;
    assets[name] = hashed;
    files.set(hashed, content);
    files.set(`${hashed}.br`, await promisify(brotliCompress)(content));
  }
  return assets;
}

/** The script of each page, with the library that searches. */
async function joinScripts(): Promise<string> {
  const input = fileURLToPath(new URL('assets/docs.js', import.meta.url));
  await using bundle = await rolldown({ input, platform: 'browser' });
  const { output } = await bundle.generate({ format: 'iife', minify: true, banner: NOTICE });
  return output[0].code;
}

async function renderGuide(page: Page, text: string, common: Common): Promise<string> {
  const main = `<main id="main" tabindex="-1">\n${addContents(renderMarkdown(text))}</main>`;
  return await renderPage({ ...common, page, main });
}

/** A page of the contract, which may be in a folder. Its links are relative, as those of all pages. */
export async function renderOperation(page: BlockPage, common: Common): Promise<string> {
  const root = '../'.repeat(page.slug.split('/').length - 1) || './';
  const drawn = toHtml(page);
  const isBeside = drawn.includes('class="beside"');
  const text = (isBeside ? drawn : addContents(drawn)).replaceAll(
    ' href="/docs/',
    ` href="${root}`,
  );
  const layout = isBeside ? 'operation' : 'guide';
  const main = `<main id="main" tabindex="-1">\n${text}</main>`;
  // A page of the menu has a link to the one after it.
  const place = PAGES.find(({ slug }) => slug === page.slug) ?? page;
  return await renderPage({ ...common, page: place, main, layout });
}

async function renderReference({ html: drawn }: Reference, common: Common): Promise<string> {
  const { assets } = common;
  const head = `<link rel="stylesheet" href="${assets['redoc.css']}">
    <link rel="stylesheet" href="${assets['reference.css']}">
    <script src="${assets['color.js']}"></script>
    <script type="module" src="${assets['redoc.js']}"></script>`;
  const main = `<div id="main" tabindex="-1">
    <noscript><p class="note">The reference is drawn by a script: read <a href="operations">the operations</a>. The contract itself is <a href="v1.yaml">v1.yaml</a>.</p></noscript>
    ${drawn}</div>`;
  return await renderPage({ ...common, page: at('reference'), main, head, layout: 'whole' });
}

async function renderMissing(common: Common): Promise<string> {
  const main = html`<main id="main" tabindex="-1">
    <h1>There is no such page</h1>
    <p>The menu has all of them. <a href="/docs/">The overview</a> says what each is about.</p>
  </main>`;
  const page = await renderPage({
    ...common,
    page: { slug: '404', title: 'Not found', description: 'There is no such page.' },
    main: String(main),
  });
  // The page is served at any depth, so its links cannot be relative.
  return page.replaceAll(/ (href|src|data-root|data-index)="(?![/#])(?:\.\/)?/g, ' $1="/docs/');
}

function holdLinks(pages: Map<string, string>, files: Set<string>, contract: Contract): void {
  const { description } = contract.info;
  // Redoc makes anchors of its own.
  const words = renderMarkdown(description).replaceAll(/<a class="anchor".*?<\/a>/g, '');
  const linked = [...pages, ['reference', words] as const];
  const dead = findDeadLinks(
    linked.map(([name, text]) => ({ name, html: text })),
    files,
    listPlaces(contract),
  );
  if (dead.length > 0) throw new Error(`Broken links:\n  ${dead.join('\n  ')}`);
}

/** The anchors of Redoc's page: `/alerts/listalerts`, `/section/limits`. */
function listPlaces({ info, paths }: Contract): Set<string> {
  const slugger = new GithubSlugger();
  const sections = [...info.description.matchAll(/^## (.+)$/gm)].map(
    ([, title = '']) => `/section/${slugger.slug(title)}`,
  );
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  const places = operations.flatMap(({ tags: [tag = ''], operationId }) => [
    `/${tag.toLowerCase()}`,
    `/${tag.toLowerCase()}/${operationId.toLowerCase()}`,
  ]);
  return new Set(['/', ...sections, ...places]);
}

function at(slug: string): Page {
  const page = PAGES.find((candidate) => candidate.slug === slug);
  if (page === undefined) throw new Error(`No page ${slug}.`);
  return page;
}
