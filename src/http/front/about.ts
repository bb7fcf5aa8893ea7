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

/** What `/sandbox` is; undefined without one. */
export const describeSandbox = ({ sandbox, contract, docs, ...about }: About) =>
  sandbox && {
    service: `${about.service}: sandbox`,
    description: 'The API over made-up data, with a key that is published.',
    ...sandbox,
    api: `${sandbox.base_url}/v1/external`,
    ...{ contract, docs },
  };

/** What `/v1` is. */
export const describeApi = ({ service, description, api, contract, docs }: About) => ({
  ...{ service, description, api, contract, docs },
});

const CARD_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json';
export const CARD_TYPE = 'application/mcp-server-card+json';

/** The servers of the Model Context Protocol here, by the names of their cards. */
function listAgents({ mcp, sandbox }: About): ReadonlyMap<string, string> {
  const all: readonly [string, string][] = [
    ['plumbline', mcp],
    ...(sandbox ? [['plumbline-sandbox', sandbox.mcp] as [string, string]] : []),
  ];
  // A server that is a sandbox as a whole has nothing else.
  return new Map(all.filter(([, url], i) => i > 0 || url !== sandbox?.mcp));
}

/** A card of the extension ext-server-card: how to connect, without what the server itself tells. */
export function renderCard(about: About, name: string): string | undefined {
  const url = listAgents(about).get(name);
  if (url === undefined) return undefined;
  const { hostname } = new URL(url);
  const publisher = hostname
    .replaceAll(/[^\w.-]/g, '')
    .split('.')
    .reverse()
    .join('.');
  return JSON.stringify({
    $schema: CARD_SCHEMA,
    name: `${publisher}/${name}`,
    title: name === 'plumbline' ? 'Plumbline' : 'Plumbline: sandbox',
    description: about.description,
    version: about.version,
    websiteUrl: about.docs ?? about.base_url,
    remotes: [
      { type: 'streamable-http', url, headers: [KEY_HEADER], supportedProtocolVersions: REVISIONS },
    ],
  });
}

const REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'];
const KEY_HEADER = {
  name: 'Authorization',
  description: 'An API key of the account.',
  isRequired: true,
  isSecret: true,
  value: 'Bearer {key}',
  variables: { key: { description: 'The API key', isRequired: true, isSecret: true } },
};

/** The AI Catalog: where the cards are. */
export function renderAgents(about: About): string {
  const { hostname } = new URL(about.base_url);
  const entries = [...listAgents(about)].map(([name, url]) => {
    return {
      identifier: `urn:air:${hostname}:mcp:${name}`,
      type: CARD_TYPE,
      url: `${url}/server-card`,
    };
  });
  return JSON.stringify({ specVersion: '1.0', entries });
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
