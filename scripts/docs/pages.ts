import { readFileSync } from 'node:fs';
import { listApiParts } from '../contract/changelog.ts';

/** The parts of the menu. */
export const GROUPS = ['Start', 'Guides', 'Reference', 'More'] as const;

/** A page of the site: its path under `/docs/`, its place in the menu, and a sentence for search results. */
export interface Page {
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly group?: (typeof GROUPS)[number];
}

/** Every page, in reading order. The text of a guide is in `openapi/guides/<slug>.md`. */
export const PAGES: readonly Page[] = [
  { slug: 'index', title: 'Overview' },
  { slug: 'getting-started', title: 'Getting started' },
  { slug: 'reference', title: 'Reference' },
  { slug: 'errors', title: 'Errors' },
  { slug: 'limits', title: 'Limits' },
  { slug: 'keys', title: 'API keys' },
  { slug: 'webhooks', title: 'Webhooks' },
  { slug: 'versioning', title: 'Versioning' },
  { slug: 'clients', title: 'Generated clients' },
  { slug: 'agents', title: 'Agents (MCP)' },
  { slug: 'changelog', title: 'Changelog' },
];

/** The text of these comes from other files. */
const MADE = new Set(['reference', 'operations', 'changelog']);

export const GUIDES: readonly Page[] = PAGES.filter(({ slug }) => !MADE.has(slug));

export function readGuide(slug: string): string {
  return readFileSync(new URL(`../../openapi/guides/${slug}.md`, import.meta.url), 'utf8');
}

/** The changes for partners: the part of CHANGELOG.md about the API, release by release. */
export function readChanges(): string {
  const text = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  const parts = [...listApiParts(text)].map(([heading, api]) => `## ${heading}\n${api}`);
  return `# Changelog\n\nWhat changed in the API. Its version is its path prefix, \`/v1/external\`; see [versioning](versioning.md).\n\n${parts.join('\n')}`;
}
