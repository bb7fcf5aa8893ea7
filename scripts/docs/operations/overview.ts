import { toOperationPath } from '../anchors.ts';
import { type BlockPage, words } from './blocks.ts';
import { type ApiContract, listOperations } from './contract.ts';
import { toText } from './fields.ts';

/** The list of all operations by their tags, and what the contract says of all of them. */
export function toOverview(contract: ApiContract, page: Omit<BlockPage, 'blocks'>): BlockPage {
  const general = toText(contract, contract.info.description);
  const sections = general.indexOf('\n## ');
  const text = [
    `# ${page.title}`,
    'The same is [on one page](/docs/reference), which a script draws.',
    general.slice(0, sections).trim(),
    ...contract.tags.flatMap(({ name, description }) => [
      `## ${name}`,
      toText(contract, description),
      listOfTag(contract, name),
    ]),
    general.slice(sections).trim(),
  ];
  return { ...page, blocks: [words(...text)] };
}

function listOfTag({ paths, 'x-webhooks': webhooks }: ApiContract, tag: string): string {
  const lines = [
    ...listOperations(paths).map((listed) => ({ ...listed, what: `GET ${listed.path}` })),
    ...listOperations(webhooks).map((listed) => ({ ...listed, what: listed.path })),
  ].filter(({ operation }) => operation.tags.includes(tag));
  return lines
    .map(
      ({ operation: { operationId, summary }, what }) =>
        `- [${summary}](/docs/${toOperationPath(operationId)}): \`${what}\``,
    )
    .join('\n');
}
