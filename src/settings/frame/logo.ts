import { html } from 'hono/html';

export function renderLogo() {
  return html`<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M8 0v7"/><path class="bob" d="M4.5 7h7L8 16z"/></svg>`;
}
