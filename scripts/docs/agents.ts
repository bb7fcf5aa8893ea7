import { SANDBOX_KEY } from '../../src/domain/sandbox.ts';
import { toMarkdown } from './operations/as-markdown.ts';
import type { BlockPage } from './operations/blocks.ts';
import { listAllPages } from './operations/pages.ts';
import { GUIDES, type Page, readChanges, readGuide } from './pages.ts';

/** The server replaces this address by its own. */
const SERVER = 'http://127.0.0.1:8080';

const SUMMARY =
  'Read-only HTTP API for DMARC monitoring data: the domains of an account, the aggregate reports that mailbox providers sent about them, who sends in their names, and alerts.';

/** What programs read: each page as Markdown, the list of pages, and llms.txt (llmstxt.org). */
export function listAgentFiles(operations: readonly BlockPage[]): Map<string, string> {
  const [overview] = operations;
  const texts: [string, string][] = [
    ...GUIDES.map(({ slug }): [string, string] => [slug, toServedLinks(readGuide(slug))]),
    ['changelog', toServedLinks(readChanges())],
    ...operations.map((page): [string, string] => [page.slug, toMarkdown(page)]),
    // The reference is drawn by a script; its text is that of the operations.
    ['reference', overview === undefined ? '' : toMarkdown(overview)],
  ];
  const pages = listAllPages(operations);
  return new Map([
    ...texts.map(([slug, text]): [string, string] => [`${slug}.md`, text]),
    ['pages.json', `${JSON.stringify(pages.map(toListed), null, 2)}\n`],
    ['llms.txt', toLlms(pages)],
  ]);
}

/** In the repository a guide links to files beside it; on a server, to pages under `/docs/`. */
export function toServedLinks(text: string): string {
  return text
    .replaceAll(/\]\(index\.md(?=[#)])/g, '](/docs/')
    .replaceAll(/\]\(([a-z-]+)\.md(?=[#)])/g, '](/docs/$1')
    .replaceAll(/\]\(\.\.\/(?=[^/)]+\.(?:yaml|json|svg)\))/g, '](/docs/');
}

function toListed({ slug, title, description }: Page) {
  return { path: slug === 'index' ? '' : slug, title, description };
}

function toLlms(pages: readonly Page[]): string {
  const isWebhook = ({ slug }: Page) => slug.startsWith('operations/on-');
  const isOperation = ({ slug }: Page) => slug.startsWith('operations/');
  const guides = pages.filter((page) => !isOperation(page) && page.slug !== 'reference');
  return `# Plumbline API

> ${SUMMARY}

Every server has a sandbox with made-up data. It needs no account: its API key is public.

\`\`\`sh
curl -H "Authorization: Bearer ${SANDBOX_KEY}" "${SERVER}/sandbox/v1/external/domains"
\`\`\`

With the key of an account the same paths begin at ${SERVER}. Each page of the docs is also Markdown, at its address with \`.md\`.

## Docs

${toList(guides)}

## Operations

${toList(pages.filter((page) => isOperation(page) && !isWebhook(page)))}

## Webhooks

${toList(pages.filter(isWebhook))}

## Contract

- [OpenAPI 3.0, YAML](${SERVER}/docs/v1.yaml): The source of the reference, of types and of clients.
- [OpenAPI 3.0, JSON](${SERVER}/docs/v1.json): The same.
- [Workflows](${SERVER}/docs/workflows.arazzo.yaml): What clients do, step by step, as an Arazzo document.

## Model Context Protocol

- [MCP](${SERVER}/mcp): The operations as tools, by the streamable HTTP transport, with an API key as bearer token.
- [MCP of the sandbox](${SERVER}/sandbox/mcp): The same over the made-up data, with the sandbox's key.
`;
}

function toList(pages: readonly Page[]): string {
  return pages
    .map(
      ({ slug, title, description }) => `- [${title}](${SERVER}/docs/${slug}.md): ${description}`,
    )
    .join('\n');
}
