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
  {
    slug: 'index',
    title: 'Overview',
    group: 'Start',
    description:
      'The Plumbline API in a minute: a request with its answer, a client of ten lines, and the feed of all that changes.',
  },
  {
    slug: 'getting-started',
    title: 'Getting started',
    group: 'Start',
    description:
      'From the public key of the sandbox to a copy of an account: first request, pages, the feed, and when to wait.',
  },
  {
    slug: 'lists',
    title: 'Pagination and filters',
    group: 'Guides',
    description:
      'Read lists page by page, filter them, ask whether they changed, and follow one list by its cursor.',
  },
  {
    slug: 'figures',
    title: 'Pass rates and senders',
    group: 'Guides',
    description:
      'The DMARC figures of all domains, their days, policy and readiness, and who sends in their names.',
  },
  {
    slug: 'tls',
    title: 'TLS reports',
    group: 'Guides',
    description:
      'How mail to a domain is encrypted: sessions by day and type of policy, what a failure means, and which reports count.',
  },
  {
    slug: 'feed',
    title: 'Change feed',
    group: 'Guides',
    description:
      'Keep a copy of an account true by one feed: its items, records, cursors, removals and a cursor that expired.',
  },
  {
    slug: 'alerts',
    title: 'Alerts',
    group: 'Guides',
    description:
      'What an alert is, how to follow alerts as they fire and resolve, and a client that does so.',
  },
  {
    slug: 'webhooks',
    title: 'Webhooks',
    group: 'Guides',
    description:
      'Events for alerts, reports and domains: how to verify a delivery, answer it, and try it.',
  },
  {
    slug: 'operations',
    title: 'Reference',
    group: 'Reference',
    description: 'Every operation and webhook of the Plumbline API, each on a page of its own.',
  },
  {
    slug: 'reference',
    title: 'Reference on one page',
    description: 'Every operation, parameter, field, header and error of the Plumbline API.',
  },
  {
    slug: 'errors',
    title: 'Errors',
    group: 'Reference',
    description: 'Each status and error code of the API, why it comes, and what a client does.',
  },
  {
    slug: 'limits',
    title: 'Rate limits',
    group: 'Reference',
    description: 'Requests a minute, the headers that say what is left, and how to need fewer.',
  },
  {
    slug: 'keys',
    title: 'API keys',
    group: 'Reference',
    description: 'What an API key may read, and how to send, store, replace and revoke one.',
  },
  {
    slug: 'clients',
    title: 'Generated clients',
    group: 'More',
    description:
      'Generators for eight clients that each change is tested with, and what to set in a client yourself.',
  },
  {
    slug: 'agents',
    title: 'Agents (MCP)',
    group: 'More',
    description:
      'Connect an agent to the operations as tools of the Model Context Protocol, and what it can and cannot do.',
  },
  {
    slug: 'versioning',
    title: 'Versioning',
    group: 'More',
    description: 'What may be added to the API at any time, and what does not change.',
  },
  {
    slug: 'changelog',
    title: 'Changelog',
    group: 'More',
    description: 'What each release added to the API.',
  },
];

/** The pages that the menu has. */
export const MENU = PAGES.filter(({ group }) => group !== undefined);

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
