import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { findDeadLinks } from '../../scripts/docs/links.ts';
import { renderMarkdown } from '../../scripts/docs/markdown.ts';
import { GUIDES, PAGES, readChanges } from '../../scripts/docs/pages.ts';
import { buildSite, type Site, writeSite } from '../../scripts/docs/site.ts';
import { SHOWN_ADDRESS } from '../../src/domain/own-address.ts';
import { tellDocs } from '../../src/http/docs.ts';
import { type Api, startApi } from '../support/api.ts';
import { holdToErrorShape } from '../support/contract.ts';
import { RawClient } from '../support/raw-http.ts';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
const HTML = { accept: 'text/html,*/*;q=0.8' };

let site: Site;
let api: Api;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plumbline-site-'));
  const served = join(folder, 'site');
  site = await buildSite();
  await writeSite(site, served);
  // Files that must not be served; without them the tests below would find nothing.
  for (const path of ['package.json', 'site/.env']) await writeFile(join(folder, path), '{}');
  api = await startApi({ site: served });
});

afterAll(async () => {
  await rm(folder, { recursive: true });
  await api.close();
});

const get = async (path: string, headers: Record<string, string> = {}) =>
  await fetch(`http://127.0.0.1:${api.port}${path}`, { headers, redirect: 'manual' });

/** A request sent unchanged: fetch normalises paths and sends no conditional requests. */
async function ask(path: string, headers = '') {
  const client = new RawClient(`http://127.0.0.1:${api.port}`);
  const answer = await client.send(`GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`);
  client.close();
  return answer;
}

describe('the built site', () => {
  test('has a page for every guide, and every guide is in the menu', () => {
    const files = readdirSync(new URL('openapi/guides', ROOT)).map((name) =>
      name.replace('.md', ''),
    );
    expect(files.toSorted()).toEqual(GUIDES.map(({ slug }) => slug).toSorted());
    expect([...site.keys()]).toEqual(
      expect.arrayContaining(PAGES.map(({ slug }) => `${slug}.html`)),
    );
  });

  test('has v1.yaml unchanged, the same as v1.json, and the workflows unchanged', () => {
    expect(site.get('v1.yaml')).toBe(read('openapi/v1.yaml'));
    expect(JSON.parse(String(site.get('v1.json')))).toEqual(parse(read('openapi/v1.yaml')));
    expect(site.get('workflows.arazzo.yaml')).toBe(read('openapi/workflows.arazzo.yaml'));
  });

  test('has no inline code in pages, and nothing from another origin', () => {
    for (const [name, page] of site) {
      if (!name.endsWith('.html')) continue;
      expect(String(page), name).not.toMatch(/<script(?![^>]* src=)|<style| on[a-z]+="/);
      expect(String(page), name).not.toMatch(/<(script|link|img)[^>]* (src|href)="(https?:|\/\/)/);
    }
  });

  test('has no request for Redoc’s logo', () => {
    const script = [...site].find(([name]) => /redoc\.\w+\.js$/.test(name));
    expect(String(script?.[1])).not.toMatch(/cdn\.redoc\.ly/);
  });

  test('has a changelog with only the parts about the API', () => {
    const changes = readChanges();
    expect(changes).toContain('/v1/external/alerts');
    expect(changes).not.toMatch(/SQLite|### Service/);
  });
});

describe('a broken link', () => {
  const findIn = (text: string) =>
    findDeadLinks(
      [
        { name: 'a', html: renderMarkdown(text) },
        { name: 'b', html: renderMarkdown('# B\n\n## Two words\n') },
      ],
      new Set(['v1.yaml']),
      new Set(['/alerts']),
    );

  test.each([
    ['to an unknown page', '[x](c.md)'],
    ['to an unknown file', '[x](../v1.toml)'],
    ['to an unknown heading of another page', '[x](b.md#three-words)'],
    ['to an unknown heading of its own', '[x](#nothing)'],
    ['to an unknown place in the reference', '[x](reference.md#/nothing)'],
    ['to an unknown page, as a path', '[x](/docs/c)'],
  ])('%s is found', (_what, text) => {
    expect(findIn(text)).toHaveLength(1);
  });

  test('does not exist in the site', () => {
    const links = [
      'b.md',
      'b.md#two-words',
      '#own',
      '../v1.yaml',
      'reference.md#/alerts',
      '/docs/b',
    ];
    const text = `## Own\n\n${links.map((link) => `[x](${link})`).join('\n')}`;
    expect(findIn(text)).toEqual([]);
  });
});

describe('the served site', () => {
  test.each(PAGES.map(({ slug }) => slug))('%s, at a clean address', async (slug) => {
    const answer = await get(`/docs/${slug === 'index' ? '' : slug}`, HTML);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    expect(answer.headers.get('x-request-id')).toMatch(/./);
    const own = `http://127.0.0.1:${api.port}`;
    const text = String(site.get(`${slug}.html`)).replaceAll(SHOWN_ADDRESS, own);
    expect(await answer.text()).toBe(text);
  });

  test.each([
    ['/docs', '/docs/'],
    ['/docs/index', '/docs/'],
    ['/docs/index.html', '/docs/'],
    ['/docs/errors.html', '/docs/errors'],
    ['/docs/errors/', '/docs/errors'],
  ])('%s redirects to %s', async (path, clean) => {
    const answer = await get(path);
    expect([answer.status, answer.headers.get('location')]).toEqual([301, clean]);
  });

  test('with a policy that allows requests to this origin only', async () => {
    const strict =
      "default-src 'none';script-src 'self';style-src 'self';img-src 'self';connect-src 'self';form-action 'none';base-uri 'none';frame-ancestors 'none'";
    const policyOf = async (path: string) =>
      (await get(path)).headers.get('content-security-policy');
    for (const path of ['/docs/', '/docs/keys', '/docs/v1.yaml']) {
      expect(await policyOf(path)).toBe(strict);
    }
    expect(await policyOf('/docs/reference')).toBe(
      "default-src 'none';script-src 'self';style-src 'self' 'unsafe-inline';img-src 'self' data:;connect-src 'self';form-action 'none';base-uri 'none';frame-ancestors 'none';font-src data:;worker-src blob:",
    );
    const answer = await get('/docs/');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  });

  test('a page that has not changed is a 304', async () => {
    const etag = (await ask('/docs/errors'))?.headers['etag'];
    expect((await ask('/docs/errors', `If-None-Match: ${etag}\r\n`))?.status).toBe(304);
  });

  test.each([
    'Range: bytes=0-9',
    'Range: bytes=99999999-',
    'If-Match: "other"',
    'If-Unmodified-Since: Sat, 01 Jan 2000 00:00:00 GMT',
  ])('complete, whatever range or condition is requested: %s', async (header) => {
    const page = await ask('/docs/errors', `${header}\r\n`);
    const text = String(site.get('errors.html')).replaceAll(SHOWN_ADDRESS, 'http://a');
    expect([page?.status, page?.body]).toEqual([200, text]);
    const missing = await ask('/docs/nothing', `Accept: text/html\r\n${header}\r\n`);
    expect([missing?.status, missing?.body]).toEqual([404, site.get('404.html')]);
  });

  test('assets are immutable, and compressed when the client accepts it', async () => {
    const [name, content] = [...site].find(([key]) => /redoc\.\w+\.js$/.test(key)) ?? [''];
    const plain = await get(`/docs/${name}`, { 'accept-encoding': 'identity' });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(await plain.text()).toBe(content);
    const answer = await ask(`/docs/${name}`, 'Accept-Encoding: gzip, br\r\n');
    expect(answer?.headers).toMatchObject({
      'content-encoding': 'br',
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    });
    expect(brotliDecompressSync(site.get(`${name}.br`) as Buffer).toString()).toBe(content);
  });

  test('v1.yaml and v1.json, to download', async () => {
    const yaml = await (await get('/docs/v1.yaml')).text();
    const json = await get('/docs/v1.json');
    expect(json.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await json.json()).toEqual(parse(yaml));
  });

  test('a page that does not exist: a page for browsers, the API’s error body for other clients', async () => {
    const page = await get('/docs/nothing/here', HTML);
    expect([page.status, page.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ]);
    expect(await page.text()).toContain('href="/docs/getting-started"');
    expect((await get('/docs/404', HTML)).status).toBe(404);
    const answer = await get('/docs/nothing');
    expect(answer.status).toBe(404);
    holdToErrorShape(await answer.text());
  });

  test.each([
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/..%2fpackage.json',
    '/docs/..%5cpackage.json',
    '/docs/assets/..%2f..%2fpackage.json',
    '/docs//etc/passwd',
    '/docs/%00',
    '/docs/%',
    '/docs/.env',
  ])('no file outside the site: %s', async (path) => {
    const answer = await ask(path);
    expect(answer?.status).toBe(404);
    holdToErrorShape(answer?.body ?? '');
  });

  test('no method except GET and HEAD', async () => {
    const answer = await api.send('/docs/errors', { method: 'POST' });
    expect(answer.status).toBe(404);
  });
});

test('a command names a page of the site only where the site is built', async () => {
  const address = 'http://127.0.0.1:8080/docs/';
  expect(await tellDocs(address, join(folder, 'site'))).toBe(`at ${address}`);
  expect(await tellDocs(address, join(folder, 'nothing'))).toContain('npm run docs');
});

test('a site that was not built is a 404 that says how to build it', async () => {
  const bare = await startApi({ site: join(folder, 'nothing') });
  const answer = await bare.send('/docs/errors');
  await bare.close();
  expect(answer.status).toBe(404);
  holdToErrorShape(answer.text);
  expect(answer.body.error.message).toContain('npm run docs');
});
