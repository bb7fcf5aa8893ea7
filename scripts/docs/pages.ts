import { readFileSync } from 'node:fs';
import { listApiParts } from '../contract/changelog.ts';

/** A page of the site: its path under `/docs/`, its title in the menu, and a sentence for search results and llms.txt. */
export interface Page {
  readonly slug: string;
  readonly title: string;
  readonly description: string;
}

/** Every page, in reading order. The text of a guide is in `openapi/guides/<slug>.md`. */
export const PAGES: readonly Page[] = [
  {
    slug: 'index',
    title: 'Overview',
    description:
      'The Plumbline API in a minute: a request with its answer, a client of ten lines, and the feed of all that changes.',
  },
  {
    slug: 'getting-started',
    title: 'Getting started',
    description:
      'From the sandbox’s public key to a copy of an account: first request, pages, feed, and when to wait.',
  },
  {
    slug: 'reference',
    title: 'Reference',
    description: 'Every operation, parameter, field, header and error of the Plumbline API.',
  },
  {
    slug: 'errors',
    title: 'Errors',
    description: 'Each status and error code of the API, why it comes, and what a client does.',
  },
  {
    slug: 'limits',
    title: 'Limits',
    description: 'Requests a minute, the headers that say what is left, and how to need fewer.',
  },
  {
    slug: 'keys',
    title: 'API keys',
    description:
      'What a key may read, how it is sent, stored, replaced and found when it has leaked.',
  },
  {
    slug: 'webhooks',
    title: 'Webhooks',
    description:
      'Events for alerts, reports and domains: how to verify a delivery, answer it, and try it.',
  },
  {
    slug: 'versioning',
    title: 'Versioning',
    description: 'What may be added to the API at any time, and what does not change within it.',
  },
  {
    slug: 'clients',
    title: 'Generated clients',
    description:
      'Generators for eight clients that each change is tested with, and what to set in a client yourself.',
  },
  {
    slug: 'changelog',
    title: 'Changelog',
    description: 'What each release added to the API.',
  },
];

/** The text of these two comes from other files. */
const MADE = new Set(['reference', 'changelog']);

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
