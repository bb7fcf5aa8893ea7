import { readFileSync } from 'node:fs';
import MiniSearch from 'minisearch';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { toAnchor, toOperationPath } from '../../scripts/docs/anchors.ts';
import { findDeadLinks } from '../../scripts/docs/links.ts';
import { addContents, renderMarkdown } from '../../scripts/docs/markdown.ts';
import { MENU, PAGES, readGuide } from '../../scripts/docs/pages.ts';
import { type Entry, listGuideEntries } from '../../scripts/docs/search.ts';
import { buildSite, type Site } from '../../scripts/docs/site.ts';

const contract = parse(readFileSync(new URL('../../openapi/v1.yaml', import.meta.url), 'utf8'));
/** Redoc's part takes a minute, and is tested with the whole site. */
const NO_REDOC = { html: '', css: '', colorScript: '', script: '' };

let site: Site;
let entries: readonly Entry[];

beforeAll(async () => {
  site = await buildSite(async () => NO_REDOC);
  const index = [...site.keys()].find((name) => /^assets\/search\.\w+\.json$/.test(name)) ?? '';
  entries = JSON.parse(String(site.get(index)));
});

const htmlOf = (slug: string) => String(site.get(`${slug}.html`));

test('getting started has at most 1,200 words, samples included', () => {
  expect(readGuide('getting-started').trim().split(/\s+/).length).toBeLessThanOrEqual(1200);
});

describe.each(PAGES)('$slug', ({ slug, description }) => {
  test('has a description, its address, and the address of its Markdown', () => {
    const page = htmlOf(slug);
    expect(description.length).toBeLessThanOrEqual(160);
    expect(page).toContain(`<meta name="description" content="${description}">`);
    const path = slug === 'index' ? '' : slug;
    expect(page).toContain(`<link rel="canonical" href="./${path}">`);
    expect(page).toContain(`<link rel="alternate" type="text/markdown" href="./${slug}.md">`);
  });

  test('has no anchor twice', () => {
    const ids = [...htmlOf(slug).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  });

  test('has a list of contents when it has four sections or more', () => {
    const page = htmlOf(slug);
    const sections = [...page.matchAll(/<h2 id="([^"]+)"/g)].map(([, id]) => `#${id}`);
    const list = /<nav class="contents" aria-label="On this page">(.*?)<\/nav>/s.exec(page)?.[1];
    const links = [...(list ?? '').matchAll(/href="([^"]+)"/g)].map(([, link]) => link);
    expect(links).toEqual(sections.length < 4 ? [] : sections);
  });
});

test('every page is in the menu, operations are below the reference, and no two descriptions are the same', () => {
  const paths = MENU.map(({ slug }) => (slug === 'index' ? '' : slug));
  for (const path of paths) expect(htmlOf('errors')).toContain(`<li><a href="./${path}"`);
  expect(htmlOf('errors')).not.toContain('href="./operations/');
  const page = htmlOf('operations/list-alerts');
  expect(page).toMatch(/operations" >Reference<\/a><ul.*?<a href="..\/operations\/list-domains"/s);
  expect(page).toContain('<a href="../operations/list-alerts" aria-current="page">');
  const listed = PAGES.filter((each) => !MENU.includes(each)).map(({ slug }) => slug);
  for (const slug of listed) expect(htmlOf('operations')).toContain(`href="./${slug}"`);
  expect(new Set(PAGES.map(({ description }) => description)).size).toBe(PAGES.length);
});

test('the page of what is missing loads and links by whole paths, because it is served at any depth', () => {
  const links = [...htmlOf('404').matchAll(/ (?:href|src|data-root|data-index)="([^"]*)"/g)];
  expect(links.length).toBeGreaterThan(10);
  expect(links.map(([, link]) => link).filter((link) => !/^(\/docs\/|#)/.test(link ?? ''))).toEqual(
    [],
  );
});

test('a list of contents has the words of the headings, and is before the first', () => {
  const text = '# T\n\nLead\n\n## A `b`\n\n## C\n\n## D\n\n## $& E\n';
  const page = addContents(renderMarkdown(text));
  expect(page).toContain('<li><a href="#a-b">A <code>b</code></a></li>');
  expect(page).toContain('<a href="#-e">$&amp; E</a>');
  expect(page.indexOf('<nav')).toBeGreaterThan(page.indexOf('Lead'));
  expect(page.indexOf('<nav')).toBeLessThan(page.indexOf('<h2'));
});

test('a drawing is in the page, in its colours, with a text in its place', () => {
  const page = htmlOf('index');
  const [drawing = ''] = /<svg role="img".*?<\/svg>/s.exec(page) ?? [];
  expect(drawing).toMatch(/aria-label="Changes of an account, one below the other: 1 domain/);
  expect(drawing).toContain('var(--act');
  expect(site.get('feed.svg')).toContain('<svg');
});

describe('the search', () => {
  test('leads to pages and anchors that exist', () => {
    const pages = [...site].filter(([name]) => name.endsWith('.html'));
    const linked = pages.map(([name, html]) => ({
      name: name.replace(/\.html$/, ''),
      html: String(html),
    }));
    const links = entries.map(({ at }) => ` href="./${at}"`);
    expect(links.length).toBeGreaterThan(300);
    const found = { name: 'found', html: links.join('') };
    const dead = findDeadLinks([...linked, found], new Set(), new Set());
    expect(dead.filter((link) => link.startsWith('found: '))).toEqual([]);
  });

  test('has each operation, parameter, header and field of the contract', () => {
    const names = new Set(entries.map(({ name }) => name));
    const missing = [...listNames(contract)].filter((name) => !names.has(name));
    expect(missing).toEqual([]);
    const operations = Object.values<object>(contract.paths).flatMap((item) => Object.values(item));
    for (const { operationId, summary } of operations)
      expect(entries).toContainEqual(
        expect.objectContaining({ at: toOperationPath(operationId), name: summary }),
      );
  });

  test('has each code of an error, and each type of a change and of an event', () => {
    const names = new Set(entries.map(({ name }) => name));
    for (const code of ['cursor_expired', 'rate_limited', 'report.stored', 'report.received'])
      expect(names, code).toContain(code);
  });

  test('has nothing twice, and nothing without a name', () => {
    const places = entries.map(({ at, name }) => `${at} ${name}`);
    expect(places.filter((place, i) => places.indexOf(place) !== i)).toEqual([]);
    expect(entries.filter(({ name }) => name === '')).toEqual([]);
  });

  test.each([
    ['cursor_expired', 'errors#cursor_expired'],
    ['reporter_org', 'operations/list-reports#data.reporter_org'],
    ['Retry-After', 'operations/list-overview#429.Retry-After'],
    ['listSources', 'operations/list-sources'],
    ['alert.policy_weakened', 'operations/list-alerts#data.context'],
    ['received_after', 'operations/list-reports#received_after'],
    ['leaked key', 'keys#when-one-has-leaked'],
    ['pagination', 'lists'],
  ])('finds %s', (words, wanted) => {
    const index = new MiniSearch({
      fields: ['name', 'text', 'page'],
      storeFields: ['at'],
      searchOptions: { boost: { name: 4, page: 2 }, prefix: true, combineWith: 'AND' },
    });
    index.addAll(entries.map((entry, id) => ({ id, ...entry })));
    const found = index.search(words).map(({ at }) => at as string);
    expect(found.slice(0, 5).some((at) => `${at}#`.startsWith(`${wanted}#`))).toBe(true);
  });

  test('has sections without their marks, and rows with a code as entries of their own', () => {
    const page = { slug: 'p', title: 'P' };
    const text =
      '# P\n\nLead [x](y.md).\n\n## A `b`\n\nWords.\n\n```sh\nexit\n```\n\n| c | d |\n|---|---|\n| `a_code` | e |\n| f | g |\n';
    expect(listGuideEntries(page, text)).toEqual([
      { at: 'p', name: 'P', page: 'P', text: 'Lead x.' },
      { at: 'p#a-b', name: 'A b', page: 'P', text: 'Words. f g' },
      { at: 'p#a_code', name: 'a_code', page: 'P', text: 'a_code e' },
    ]);
  });
});

test('an anchor of a field that has the name of a parameter says that it is of the answer', () => {
  expect(toAnchor(['data', 'figures', 'pass_rate'])).toBe('data.figures.pass_rate');
  expect(toAnchor(['limit'], new Set(['limit']))).toBe('answer.limit');
});

/** Every name of a parameter, a header of a 200, and a property, wherever the contract has one, but for errors. */
function* listNames(node: unknown, path: readonly string[] = []): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    if (NOT_SEARCHED.test([...path, key].join(' '))) continue;
    if (isName(path, key, value))
      yield path.at(-1) === 'properties' || key !== 'name' ? key : value;
    yield* listNames(value, [...path, key]);
  }
}

const NOT_SEARCHED = /ErrorBody|ErrorDetail|examples?|links|components (headers|responses)/;

function isName(path: readonly string[], key: string, value: unknown): boolean {
  const last = path.slice(-2).join(' ');
  if (/(^| )properties$/.test(last) || last === '200 headers') return true;
  return path.includes('parameters') && key === 'name' && typeof value === 'string';
}
