import { html, raw } from 'hono/html';
import { renderMarkdown } from '../markdown.ts';
import type { Block, BlockPage, Field } from './blocks.ts';

/** A page as the HTML of its `main`. */
export function toHtml({ blocks }: BlockPage): string {
  return blocks.map(renderBlock).join('\n');
}

function renderBlock(block: Block, place: number): string {
  if (block.kind === 'fields') return renderFields(block.fields);
  // Each block counts its tabs from 1.
  const text = renderMarkdown(block.text).replaceAll('="samples-', `="samples-${place}-`);
  if (block.kind === 'words') return text;
  return String(html`<details><summary>${block.title}</summary>${raw(text)}</details>`);
}

function renderFields(fields: readonly Field[]): string {
  return fields.length === 0 ? '' : `<dl class="fields">${fields.map(renderField).join('')}</dl>`;
}

function renderField({ name, anchor, facets, values, description, example, fields }: Field) {
  const label = `Link to “${anchor}”`;
  const parts = [
    renderDescription(description),
    values.length === 0 ? '' : html`<p>One of ${renderCodes(values)}.</p>`,
    example === undefined ? '' : html`<p>Example: <code>${example}</code></p>`,
    renderFields(fields),
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
