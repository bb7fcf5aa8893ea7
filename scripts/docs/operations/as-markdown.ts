import { type Block, type BlockPage, code, type Field } from './blocks.ts';

/** A page as Markdown, for programs. */
export function toMarkdown({ blocks }: BlockPage): string {
  return `${renderBlocks(blocks)}\n`;
}

function renderBlocks(blocks: readonly Block[]): string {
  return blocks.map(renderBlock).filter(Boolean).join('\n\n');
}

function renderBlock(block: Block): string {
  if (block.kind === 'fields') return block.fields.map(renderField).join('\n');
  if (block.kind === 'beside') return renderBlocks(block.blocks);
  if (block.kind === 'request') return code('http', `${block.method} ${block.path}`);
  if (block.kind === 'tabs')
    return block.tabs.map(({ label, text }) => `**${label}**\n\n${text}`).join('\n\n');
  return block.kind === 'words' ? block.text : `**${block.title}**\n\n${block.text}`;
}

/** An item of a list, and the fields in it as a list under it. */
function renderField({ name, facets, values, description, example, fields }: Field): string {
  const rest = [
    values.length > 0 ? `One of ${toCodes(values)}.` : '',
    example === undefined ? '' : `Example: ${toCodes([example])}`,
  ].filter((text) => text !== '');
  // A table ends with its last line.
  const seam = description.endsWith('|') ? '\n\n' : ' ';
  const words = [description, rest.join(' ')].join(seam).trim();
  const item = `- \`${name}\` (${facets.join(', ')}): ${words}`;
  return toIndented([item, ...fields.map(renderField)].join('\n'));
}

function toIndented(item: string): string {
  return item.replaceAll(/\n(?=.)/g, '\n  ');
}

function toCodes(values: readonly string[]): string {
  return values.map((value) => `\`${value}\``).join(', ');
}
