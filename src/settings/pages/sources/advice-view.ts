import { html } from 'hono/html';
import type { Advice } from '../../../domain/sources/advice.ts';
import { type Html, pluralize } from '../../frame/text.ts';
import { renderPhrase } from './source-labels.ts';

const TONES = {
  act: ['Fails', 'warn'],
  leave: ['Nothing to do', ''],
  improve: ['Passes', ''],
  good: ['Passes', 'good'],
} as const satisfies Record<Advice['tone'], readonly [string, string]>;

interface AdviceNotes {
  /** Where it is not the one that is shown. */
  readonly period: Html | '';
  readonly guide: Html | undefined;
}

export function renderAdvice(advice: readonly Advice[], { period, guide }: AdviceNotes): Html | '' {
  if (advice.length === 0) return '';
  return html`<section class="card" aria-labelledby="advice">
    <h2 id="advice">What to do${period}</h2>
    <ul class="findings advice">${advice.map(({ tone, title, text, messages }) => {
      const [label, style] = TONES[tone];
      return html`<li>
        <span class="badge ${style}">${label}</span>
        <div><strong>${title}</strong> <span class="muted">${pluralize(messages, 'message')}</span><p>${renderPhrase(text)}</p></div>
      </li>`;
    })}</ul>
    ${guide ?? ''}
  </section>`;
}
