import { readdir } from 'node:fs/promises';
import { sep } from 'node:path';
import type { Config } from '../../config/config.ts';
import { readVersion } from '../../config/version.ts';
import { DAY_MS, toInstant } from '../../domain/instant.ts';
import { SANDBOX_KEY, SANDBOX_PATH } from '../../domain/sandbox.ts';

export interface FrontDeps extends Partial<Pick<Config, 'baseUrl' | 'serviceName' | 'contact'>> {
  readonly site: string | undefined;
  readonly now: () => Date;
  /** Whether the server is a sandbox as a whole, which nobody signs in to. */
  readonly isSandbox: boolean;
  readonly hasSandbox: boolean;
}

/** What the server is and where its parts are: JSON for programs, and what the page for people shows. */
export type About = ReturnType<typeof describeServer>;

export function describeServer(base_url: string, deps: FrontDeps, hasDocs: boolean) {
  const { serviceName: name, contact, isSandbox, hasSandbox } = deps;
  const own = `${base_url}${SANDBOX_PATH}`;
  const sandbox = { base_url: own, mcp: `${own}/mcp`, key: SANDBOX_KEY };
  return {
    service: 'Plumbline',
    name,
    description: 'DMARC monitoring data of an account, read-only: domains, reports and alerts.',
    version: readVersion(),
    base_url,
    api: `${isSandbox ? own : base_url}/v1/external`,
    mcp: `${isSandbox ? own : base_url}/mcp`,
    contract: hasDocs ? `${base_url}/docs/v1.yaml` : undefined,
    docs: hasDocs ? `${base_url}/docs/` : undefined,
    sandbox: hasSandbox ? sandbox : undefined,
    sign_in: isSandbox ? undefined : `${base_url}/settings`,
    contact,
  };
}

/** Crawlers read the page and the docs. The rest needs a person or a key. */
export function renderRobots({ base_url }: About): string {
  return `User-agent: *\nDisallow: /settings\nDisallow: /v1\nDisallow: /sandbox\nDisallow: /mcp\nAllow: /\n\nSitemap: ${base_url}/sitemap.xml\n`;
}

export async function renderSitemap({ base_url }: About, site: string): Promise<string> {
  const names = await readdir(site, { recursive: true }).catch(() => []);
  const pages = names.filter((name) => name.endsWith('.html') && name !== '404.html').sort();
  const paths = pages.map((name) => name.replaceAll(sep, '/').replace(/(^index)?\.html$/, ''));
  const locations = ['/', ...paths.map((path) => `/docs/${path}`)];
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${locations.map((path) => `<url><loc>${base_url}${path}</loc></url>`).join('\n')}
</urlset>
`;
}

/** RFC 9116: only an address with https is canonical (2.5.2), and the day is less than a year away (2.5.5). */
export function renderSecurity({ base_url, contact }: About, now: Date): string {
  const day = toInstant(new Date(now.getTime() + 180 * DAY_MS)).slice(0, 10);
  const canonical = `Canonical: ${base_url}/.well-known/security.txt\n`;
  return `Contact: ${contact}\nExpires: ${day}T00:00:00Z\n${base_url.startsWith('https:') ? canonical : ''}`;
}

/** RFC 9727: the APIs here, each with its contract, its docs and its state. */
export function renderCatalog({ base_url, api, sandbox, contract, docs }: About): string {
  const apis = [...new Set([api, `${(sandbox ?? { base_url }).base_url}/v1/external`])];
  const links = {
    ...(contract && { 'service-desc': [{ href: contract, type: 'text/yaml' }] }),
    ...(docs && { 'service-doc': [{ href: docs, type: 'text/html' }] }),
    status: [{ href: `${base_url}/readyz`, type: 'application/json' }],
  };
  return JSON.stringify({ linkset: apis.map((anchor) => ({ anchor, ...links })) });
}
