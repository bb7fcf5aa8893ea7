import { html, raw } from 'hono/html';
import { renderMarkdown, renderTabs } from '../markdown.ts';
import type { Block, BlockPage, Field } from './blocks.ts';

/** A page as the HTML of its `main`. */
export function toHtml({ blocks }: BlockPage): string {
  const place = blocks.findIndex(({ kind }) => kind === 'beside');
  if (place === -1) return renderBlocks(blocks);
  const [before, beside, after] = [
    blocks.slice(0, place),
    renderBlock(blocks[place] as Block, place),
    blocks.slice(place + 1),
  ];
  return `<div>${renderBlocks(before)}</div>\n${beside}\n<div>${renderBlocks(after)}</div>`;
}

function renderBlocks(blocks: readonly Block[]): string {
  return blocks.map(renderBlock).join('\n');
}

function renderBlock(block: Block, place: number): string {
  if (block.kind === 'fields') return renderFields(block.fields);
  if (block.kind === 'beside') return `<div class="beside">${renderBlocks(block.blocks)}</div>`;
  if (block.kind === 'request')
    return String(html`<p class="request"><b>${block.method}</b> <code>${block.path}</code></p>`);
  if (block.kind === 'tabs') {
    const tabs = block.tabs.map(({ label, text }) => ({ label, content: renderMarkdown(text) }));
    return String(renderTabs(block.legend, `tabs-${place}`, tabs));
  }
  // Each block counts its tabs from 1.
  const text = renderMarkdown(block.text).replaceAll('="samples-', `="samples-${place}-`);
  if (block.kind === 'words') return text;
  return String(html`<details><summary>${block.title}</summary>${raw(text)}</details>`);
}

/** Fields in a field are folded, but for those of the answer's own. */
function renderInner({ name, anchor, fields }: Field): string {
  if (fields.length === 0) return '';
  const isOpen = !anchor.includes('.');
  return `<details${isOpen ? ' open' : ''}><summary>Fields of <code>${name}</code></summary>${renderFields(fields)}</details>`;
}

function renderFields(fields: readonly Field[]): string {
  return fields.length === 0 ? '' : `<dl class="fields">${fields.map(renderField).join('')}</dl>`;
}

function renderField(field: Field) {
  const { name, anchor, facets, values, description, example } = field;
  const label = `Link to “${anchor}”`;
  const parts = [
    renderDescription(description),
    values.length === 0 ? '' : html`<p>One of ${renderCodes(values)}.</p>`,
    example === undefined ? '' : html`<p>Example: <code>${example}</code></p>`,
    renderInner(field),
  ];
  return String(html`<div id="${anchor}"><dt><code>${name}</code> <span>${facets.join(', ')}</span> <a class="anchor" href="#${anchor}" aria-label="${label}">#</a></dt><dd>${raw(parts.join(''))}</dd></div>
`);
}

/** A text that stands in several places has no anchors of its own. */
function renderDescription(text: string): string {
  return renderMarkdown(text).replaceAll(/ id="[^"]*"/g, '');
}

function renderCodes(values: readonly string[]) {
  return values.map((value, i) => html`${i === 0 ? '' : ', '}<code>${value}</code>`);
}
