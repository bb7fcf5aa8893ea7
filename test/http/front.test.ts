import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { SANDBOX_KEY } from '../../src/domain/sandbox.ts';
import { describeServer, renderAgents, renderCatalog } from '../../src/http/front/about.ts';
import { type Api, serveApi, startApi } from '../support/api.ts';
import { holdToErrorShape } from '../support/contract.ts';
import { RawClient } from '../support/raw-http.ts';

const BASE_URL = 'https://dmarc.example.com';
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
/** What the docs show; each file has it twice, at the end too. */
const SHOWN = 'http://127.0.0.1:8080';
const FILES = {
  'index.html': `<h1>Docs</h1><a href="${SHOWN}/docs/">${SHOWN}`,
  'index.md': `# Docs ${SHOWN}/docs/ ${SHOWN}`,
  'errors.html': `<h1>Errors</h1><p>“${SHOWN}/v1” ${SHOWN}`,
  'errors.md': `# Errors “${SHOWN}/v1” ${SHOWN}`,
  'plain.html': `<h1>HTML alone</h1> ${SHOWN} ${SHOWN}`,
  'operations.html': '<h1>Operations</h1>',
  'operations/list-domains.html': `<h1>List domains</h1> ${SHOWN} ${SHOWN}`,
  'operations/list-domains.md': `# List domains ${SHOWN} ${SHOWN}`,
  '404.html': '<h1>There is no such page</h1>',
  'llms.txt': `# Plumbline\n${SHOWN}/docs/errors.md ${SHOWN}`,
  'v1.yaml': `servers: [{ url: '${SHOWN}' }]`,
} as const;
type FileName = keyof typeof FILES;

let site: string;
let api: Api;

beforeAll(async () => {
  site = await mkdtemp(join(tmpdir(), 'plumbline-front-'));
  await mkdir(join(site, 'operations'));
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(site, name), text);
  api = await startApi({ site });
});

afterAll(async () => {
  await api.close();
  await rm(site, { recursive: true });
});

/** Sent unchanged, because fetch chooses the Host itself. */
async function ask(path: string, headers: Record<string, string> = {}, { port } = api) {
  const client = new RawClient(`http://127.0.0.1:${port}`);
  const { method = 'GET', ...sent } = headers;
  const lines = Object.entries({ Host: 'plumbline.example', ...sent });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const answer = await client.send(`${method} ${path} HTTP/1.1\r\n${head}\r\n`, method === 'HEAD');
  client.close();
  if (answer === undefined) throw new Error(`no answer for ${path}`);
  return answer;
}

const withAddress = (name: FileName, address: string) => FILES[name].replaceAll(SHOWN, address);
const PATHS = [
  '/',
  '/robots.txt',
  '/sitemap.xml',
  '/.well-known/api-catalog',
  '/llms.txt',
  '/docs/errors',
  '/docs/errors.md',
];

describe('what an address is', () => {
  test.each(['/sandbox', '/sandbox/', '/sandbox/v1'])('%s is the sandbox', async (path) => {
    const { status, body } = await ask(path);
    const base_url = 'http://plumbline.example/sandbox';
    expect([status, JSON.parse(body)]).toMatchObject([
      200,
      { base_url, api: `${base_url}/v1/external`, mcp: `${base_url}/mcp`, key: SANDBOX_KEY },
    ]);
  });

  test.each(['/v1', '/v1/'])('%s is the API', async (path) => {
    const { status, body } = await ask(path);
    const api = 'http://plumbline.example/v1/external';
    expect([status, JSON.parse(body)]).toMatchObject([200, { api }]);
  });

  test('a path where nothing is is said so: to people with a page, to programs with the error of the API', async () => {
    for (const path of ['/nope', '/v1/nope', '/settings.txt?<b>']) {
      const page = await ask(path, { Accept: BROWSER });
      expect([page.status, page.headers['content-type'], page.headers['vary']]).toEqual([
        ...[404, 'text/html; charset=utf-8', 'Accept, Accept-Encoding'],
      ]);
      expect(page.headers['content-security-policy']).toContain("default-src 'none'");
      expect(page.body).toContain('No such path.');
      expect(page.body).toContain('<a href="/settings">Sign in</a>');
      expect(page.body).not.toContain('<b>');
      const others = [{}, { Accept: '*/*' }, { Accept: BROWSER, method: 'POST' }];
      for (const headers of others) {
        const { status, body } = await ask(path, headers as Record<string, string>);
        expect(status).toBe(404);
        expect(JSON.parse(body).error).toEqual({ code: 'not_found', message: 'No such path.' });
      }
    }
    expect((await ask('/nope', { Accept: BROWSER, method: 'HEAD' })).body).toBe('');
  });

  test('a server without a sandbox has none there', async () => {
    const bare = await serveApi({ site, hasSandbox: false });
    for (const path of ['/sandbox', '/sandbox/mcp/server-card'])
      expect((await ask(path, {}, bare)).status).toBe(404);
    const { entries } = JSON.parse((await ask('/.well-known/ai-catalog.json', {}, bare)).body);
    expect(entries).toHaveLength(1);
  });

  test('each entry of the AI Catalog leads to a card, which leads to its tools', async () => {
    const own = await serveApi({ site, baseUrl: 'https://dmarc.example.com' });
    const { status, headers, body } = await ask('/.well-known/ai-catalog.json', {}, own);
    expect([status, headers['content-type']]).toEqual([200, 'application/ai-catalog+json']);
    const { specVersion, entries } = JSON.parse(body);
    expect(specVersion).toBe('1.0');
    const remotes = [];
    for (const { identifier, type, url } of entries) {
      expect(identifier).toMatch(/^urn:air:dmarc\.example\.com:mcp:[a-z-]+$/);
      const path = url.replace('https://dmarc.example.com', '');
      const card = await ask(path, {}, own);
      expect([card.status, card.headers['content-type']]).toEqual([200, type]);
      expect(card.headers['access-control-allow-origin']).toBe('*');
      const { name, description, remotes: own_remotes } = JSON.parse(card.body);
      expect(name).toMatch(/^com\.example\.dmarc\/[a-z-]+$/);
      expect(description.length).toBeLessThanOrEqual(100);
      remotes.push(...own_remotes);
      const again = await ask(path, { 'If-None-Match': card.headers['etag'] ?? '' }, own);
      expect(again.status).toBe(304);
    }
    const urls = remotes.map(({ type, url }: { type: string; url: string }) => [type, url]);
    expect(urls).toEqual(
      ['', '/sandbox'].map((base) => ['streamable-http', `https://dmarc.example.com${base}/mcp`]),
    );
  });
});

describe('/', () => {
  test.each([
    [BROWSER, 'text/html; charset=utf-8'],
    ['text/html', 'text/html; charset=utf-8'],
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['text/html;q=0.5, application/json', 'application/json'],
    ['text/html, application/json;q=0.9', 'text/html; charset=utf-8'],
    ['image/png', 'application/json'],
    ['', 'application/json'],
  ])('for “%s” is %s', async (Accept, type) => {
    const answer = await ask('/', { Accept });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ 'content-type': type, vary: 'Accept, Accept-Encoding' });
  });

  test('says to programs what the server is, and where its parts are', async () => {
    const { body, headers } = await ask('/');
    const address = 'http://plumbline.example';
    expect(JSON.parse(body)).toEqual({
      service: 'Plumbline',
      description: expect.any(String),
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      base_url: address,
      api: `${address}/v1/external`,
      mcp: `${address}/mcp`,
      contract: `${address}/docs/v1.yaml`,
      docs: `${address}/docs/`,
      sandbox: { base_url: `${address}/sandbox`, mcp: `${address}/sandbox/mcp`, key: SANDBOX_KEY },
      sign_in: `${address}/settings`,
    });
    expect(headers['link']).toContain('</docs/v1.yaml>; rel="service-desc"');
  });

  test('says the same to people, with what the operator has set', async () => {
    const named = await serveApi({
      site,
      baseUrl: BASE_URL,
      serviceName: 'Reports of <Example>',
      contact: 'mailto:postmaster@example.com',
    });
    const page = await ask('/', { Accept: BROWSER }, named);
    for (const part of [
      '<h1>Reports of &lt;Example&gt;</h1>',
      `<link rel="canonical" href="${BASE_URL}/">`,
      '<link rel="alternate" type="application/json" href="/">',
      '<meta name="description" content="',
      '<a href="/settings">',
      '<a href="/docs/">',
      `Bearer ${SANDBOX_KEY}" \\\n  "${BASE_URL}/sandbox/v1/external/domains?limit=1"`,
      '<a href="mailto:postmaster@example.com">postmaster@example.com</a>',
    ])
      expect(page.body).toContain(part);
    expect(page.body).not.toContain('undefined');
    const { body } = await ask('/', {}, named);
    expect(JSON.parse(body)).toMatchObject({
      name: 'Reports of <Example>',
      contact: 'mailto:postmaster@example.com',
      base_url: BASE_URL,
    });
  });

  test('allows its own style and script alone, and pictures of the docs', async () => {
    const { headers, body } = await ask('/', { Accept: BROWSER });
    const [script = ''] = /(?<=<script>).*(?=<\/script>)/s.exec(body) ?? [];
    const source = `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain(`default-src 'none';script-src ${source};style-src 'sha256-`);
    expect(policy).toContain(";img-src 'self' data:;");
    expect(body).not.toMatch(/<script [a-z]| style="| on[a-z]+="/);
    for (const scheme of ['light', 'dark'])
      expect(body).toContain(`"/docs/overview-${scheme}.webp"`);
  });

  test('of a server that is a sandbox as a whole names the sandbox alone', () => {
    const deps = { site, now: () => new Date(), isSandbox: true, hasSandbox: true };
    const about = describeServer('http://a', deps, true);
    expect(about).toMatchObject({
      api: 'http://a/sandbox/v1/external',
      mcp: 'http://a/sandbox/mcp',
    });
    expect(about.sign_in).toBeUndefined();
    expect(JSON.parse(renderCatalog(about)).linkset).toHaveLength(1);
    expect(JSON.parse(renderAgents(about)).entries).toHaveLength(1);
  });

  test('names no sandbox where it is off', () => {
    const deps = { site, now: () => new Date(), isSandbox: false, hasSandbox: false };
    const about = describeServer('http://a', deps, true);
    expect([about.sandbox, about.api]).toEqual([undefined, 'http://a/v1/external']);
    expect(JSON.parse(renderCatalog(about)).linkset).toHaveLength(1);
    expect(JSON.parse(renderAgents(about)).entries).toHaveLength(1);
  });

  test('names no docs where none are built', async () => {
    const bare = await serveApi({ site: join(site, 'nothing') });
    const { docs, contract } = JSON.parse((await ask('/', {}, bare)).body);
    expect([docs, contract]).toEqual([undefined, undefined]);
    expect((await ask('/', { Accept: BROWSER }, bare)).body).not.toContain('/docs/');
  });
});

describe('files that programs look for', () => {
  test('robots.txt lets crawlers read the page and the docs', async () => {
    const { headers, body } = await ask('/robots.txt');
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    const closed = ['/settings', '/v1', '/sandbox', '/mcp'].map((path) => `Disallow: ${path}\n`);
    expect(body).toBe(
      `User-agent: *\n${closed.join('')}Allow: /\n\nSitemap: http://plumbline.example/sitemap.xml\n`,
    );
  });

  test('sitemap.xml has each page of the docs', async () => {
    const { headers, body } = await ask('/sitemap.xml');
    expect(headers['content-type']).toBe('application/xml');
    expect(
      [...body.matchAll(/<loc>http:\/\/plumbline\.example(.*?)<\/loc>/g)].map(([, path]) => path),
    ).toEqual([
      '/',
      '/docs/errors',
      '/docs/',
      '/docs/operations',
      '/docs/operations/list-domains',
      '/docs/plain',
    ]);
    const bare = await serveApi({ site: join(site, 'nothing') });
    expect((await ask('/sitemap.xml', {}, bare)).body.match(/<loc>/g)).toHaveLength(1);
  });

  test('api-catalog has the service and the sandbox, and HEAD links to it', async () => {
    const path = '/.well-known/api-catalog';
    const { headers, body } = await ask(path);
    expect(headers['content-type']).toMatch(/^application\/linkset\+json; profile="/);
    const { linkset } = JSON.parse(body);
    expect(linkset).toEqual(
      ['', '/sandbox'].map((place) => ({
        anchor: `http://plumbline.example${place}/v1/external`,
        'service-desc': [{ href: 'http://plumbline.example/docs/v1.yaml', type: 'text/yaml' }],
        'service-doc': [{ href: 'http://plumbline.example/docs/', type: 'text/html' }],
        status: [{ href: 'http://plumbline.example/readyz', type: 'application/json' }],
      })),
    );
    const contract = await ask('/docs/v1.yaml');
    expect(contract.headers['content-type']).toMatch(/^text\/yaml/);
    const head = await ask(path, { method: 'HEAD' });
    expect(head.headers['link']).toContain(`<${path}>; rel="api-catalog"`);
  });

  test('security.txt has the contact, a day less than a year away, and with https its own address', async () => {
    const contact = 'https://example.com/security';
    const secure = await serveApi({ contact, baseUrl: BASE_URL });
    const { headers, body } = await ask('/.well-known/security.txt', {}, secure);
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    const [, expires = ''] = /^Expires: (.+)$/m.exec(body) ?? [];
    expect(body).toBe(
      `Contact: ${contact}\nExpires: ${expires}\nCanonical: ${BASE_URL}/.well-known/security.txt\n`,
    );
    const days = (Date.parse(expires) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(170);
    expect(days).toBeLessThan(365);
    const plain = await serveApi({ contact });
    expect((await ask('/.well-known/security.txt', {}, plain)).body).not.toContain('Canonical');
  });

  test('security.txt is a 404 without a contact', async () => {
    const answer = await ask('/.well-known/security.txt');
    expect(answer.status).toBe(404);
    holdToErrorShape(answer.body);
  });

  test('llms.txt is that of the docs, and a 404 where they are not built', async () => {
    const answer = await ask('/llms.txt');
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(answer.body).toBe(withAddress('llms.txt', 'http://plumbline.example'));
    const bare = await serveApi({ site: join(site, 'nothing') });
    const missing = await ask('/llms.txt', {}, bare);
    expect(missing.status).toBe(404);
    holdToErrorShape(missing.body);
  });
});

describe('pages of the docs as Markdown', () => {
  const HTML = 'text/html; charset=utf-8';
  const MARKDOWN = 'text/markdown; charset=utf-8';
  const NAMES: Readonly<Record<string, FileName>> = {
    '/docs/errors.md': 'errors.md',
    '/docs/index.md': 'index.md',
    '/docs/operations/list-domains.md': 'operations/list-domains.md',
  };

  test.each(Object.entries(NAMES))('%s', async (path, name) => {
    const answer = await ask(path, { Accept: BROWSER });
    expect([answer.status, answer.headers['content-type']]).toEqual([200, MARKDOWN]);
    expect(answer.body).toBe(withAddress(name, 'http://plumbline.example'));
  });

  test.each([
    ['/docs/errors', BROWSER, HTML, 'errors.html'],
    ['/docs/errors', '*/*', HTML, 'errors.html'],
    ['/docs/errors', 'application/json', HTML, 'errors.html'],
    ['/docs/errors', 'text/markdown', MARKDOWN, 'errors.md'],
    ['/docs/errors', 'text/markdown, text/html;q=0.9, */*;q=0.1', MARKDOWN, 'errors.md'],
    ['/docs/errors', 'text/markdown;q=0.5, text/html', HTML, 'errors.html'],
    ['/docs/errors', 'text/markdown;q=0, */*', HTML, 'errors.html'],
    ['/docs/', 'text/markdown', MARKDOWN, 'index.md'],
    ['/docs/operations/list-domains', 'text/markdown', MARKDOWN, 'operations/list-domains.md'],
    ['/docs/plain', 'text/markdown', HTML, 'plain.html'],
  ] as const)('%s for “%s” is %s', async (path, Accept, type, name) => {
    const answer = await ask(path, { Accept });
    expect(answer.headers).toMatchObject({ 'content-type': type, vary: 'Accept, Accept-Encoding' });
    expect(answer.body).toBe(withAddress(name, 'http://plumbline.example'));
  });

  test.each(['/docs/nothing.md', '/docs/plain.md', '/docs/..%2ferrors.md', '/docs/errors.md/x'])(
    '%s is a 404',
    async (path) => {
      const answer = await ask(path);
      expect(answer.status).toBe(404);
      holdToErrorShape(answer.body);
    },
  );

  test('a long page is compressed for who accepts that, and each coding has its own entity tag', async () => {
    const page = `<p>${`See ${SHOWN}/docs. `.repeat(200)}</p>`;
    const file = join(site, 'long.html');
    await writeFile(file, page);
    onTestFinished(() => rm(file));
    const get = (coding: string) =>
      fetch(`http://127.0.0.1:${api.port}/docs/long`, { headers: { 'Accept-Encoding': coding } });
    const tags = new Set<string>();
    for (const coding of ['identity', 'gzip', 'br']) {
      const answer = await get(coding);
      expect(await answer.text()).toBe(page.replaceAll(SHOWN, `http://127.0.0.1:${api.port}`));
      expect(answer.headers.get('content-encoding') ?? 'identity').toBe(coding);
      if (coding !== 'identity')
        expect(Number(answer.headers.get('content-length'))).toBeLessThan(page.length / 4);
      const tag = answer.headers.get('etag') ?? '';
      tags.add(tag);
      const sent = { Host: `127.0.0.1:${api.port}`, 'Accept-Encoding': coding };
      expect((await ask('/docs/long', { ...sent, 'If-None-Match': tag })).status).toBe(304);
    }
    expect(tags.size).toBe(3);
  });

  test('the contract and the workflows stay as they are written', async () => {
    expect((await ask('/docs/v1.yaml')).body).toBe(FILES['v1.yaml']);
  });
});

describe('the address that answers show', () => {
  const shownIn = (body: string) =>
    body.replace(FILES['plain.html'].slice(0, 20), '').split(' ')[1];
  const show = async (headers: Record<string, string>, given = api) =>
    shownIn((await ask('/docs/plain', headers, given)).body);

  test.each([
    ['plumbline.example', 'http://plumbline.example'],
    ['Plumbline.EXAMPLE:8081', 'http://plumbline.example:8081'],
    ['plumbline.example:80', 'http://plumbline.example'],
    ['192.0.2.1:8080', 'http://192.0.2.1:8080'],
    ['[2001:db8::1]:8080', 'http://[2001:db8::1]:8080'],
  ])('is that of the request: %s', async (Host, address) => {
    expect(await show({ Host })).toBe(address);
  });

  test.each([
    '"><script>alert(1)</script>',
    'a$(reboot)',
    'a;reboot',
    "a'b",
    'user@evil.example',
    'evil.example/path',
    'evil.example?x',
    'evil.example:99999',
    'evil.example:8080:1',
    '[evil.example]',
    'a b',
    'é.example',
    '',
  ])('is never that of a Host that is none: %s', async (Host) => {
    for (const path of PATHS) {
      for (const Accept of ['*/*', BROWSER]) {
        const { status, body } = await ask(path, { Host, Accept });
        expect(status, path).toBe(200);
        if (Host !== '') expect(body, path).not.toContain(Host);
      }
    }
    expect(await show({ Host })).toBe(SHOWN);
  });

  test('is the operator’s, whatever the request says', async () => {
    const own = await serveApi({ site, baseUrl: BASE_URL });
    for (const path of PATHS.slice(0, -1)) {
      const { body } = await ask(path, { Host: 'evil.example' }, own);
      expect(body, path).toContain(BASE_URL);
      expect(body, path).not.toMatch(/evil\.example|127\.0\.0\.1/);
    }
  });

  test('has https where a trusted proxy says so, and only there', async () => {
    const proxied = await serveApi({ site, trustedProxies: ['127.0.0.1'] });
    const headers = { 'X-Forwarded-Proto': 'https' };
    expect(await show(headers, proxied)).toBe('https://plumbline.example');
    expect(await show({ 'X-Forwarded-Proto': 'javascript' }, proxied)).toBe(
      'http://plumbline.example',
    );
    expect(await show(headers)).toBe('http://plumbline.example');
    const hosts = { 'X-Forwarded-Host': 'evil.example' };
    expect(await show(hosts)).toBe('http://plumbline.example');
  });
});

describe('every answer', () => {
  test.each(PATHS)('%s has a tag of what is sent, and HEAD has its length', async (path) => {
    const answer = await ask(path);
    const { etag = '', 'content-length': length, 'content-type': type } = answer.headers;
    expect(answer.headers['cache-control']).toBe('no-cache');
    expect(Number(length)).toBe(Buffer.byteLength(answer.body));
    const head = await ask(path, { method: 'HEAD' });
    expect([head.status, head.body]).toEqual([200, '']);
    expect(head.headers).toMatchObject({ etag, 'content-length': length, 'content-type': type });
    const known = await ask(path, { 'If-None-Match': `W/"x", ${etag}` });
    expect([known.status, known.body]).toEqual([304, '']);
    const elsewhere = await ask(path, { 'If-None-Match': etag, Host: 'other.example' });
    expect([elsewhere.status, elsewhere.headers['etag'] === etag]).toEqual([200, false]);
    const part = await ask(path, { Range: 'bytes=0-3' });
    expect([part.status, part.body]).toEqual([200, answer.body]);
    expect(part.headers['accept-ranges']).toBeUndefined();
  });

  test.each(PATHS)('%s is a 404 for another method', async (path) => {
    const answer = await ask(path, { method: 'POST', 'Content-Length': '0' });
    expect(answer.status).toBe(404);
    holdToErrorShape(answer.body);
  });

  test.each(['/robots.txt/', '/Robots.txt', '/.well-known/', '/llms.txt/x'])(
    '%s is a 404',
    async (path) => {
      const answer = await ask(path);
      expect(answer.status).toBe(404);
      holdToErrorShape(answer.body);
    },
  );

  test('is that of the docs which were built last', async () => {
    const path = join(site, 'late.html');
    expect((await ask('/docs/late')).status).toBe(404);
    await writeFile(path, `first ${SHOWN}`);
    expect((await ask('/docs/late')).body).toBe('first http://plumbline.example');
    await writeFile(path, `second ${SHOWN}`);
    await utimes(path, new Date(), new Date(Date.now() + 10_000));
    expect((await ask('/docs/late')).body).toBe('second http://plumbline.example');
    await rm(path);
    expect((await ask('/docs/late')).status).toBe(404);
  });
});
