import { html } from 'hono/html';
import { addUp } from '../../../domain/alerts/rate.ts';
import type { Day } from '../../../domain/instant.ts';
import type { Advice } from '../../../domain/sources/advice.ts';
import type { Breakdown } from '../../../domain/sources/breakdown.ts';
import type { Source } from '../../../domain/sources/source.ts';
import type { DomainRow } from '../../../store/accounts/domains.ts';
import type { SourceMark } from '../../../store/sources/marks.ts';
import type { SourceDay } from '../../../store/sources/source.ts';
import { toColumns } from '../../frame/charts/columns.ts';
import { renderNumbers, renderVolume } from '../../frame/charts/volume.ts';
import { renderTrail } from '../../frame/elements.ts';
import { renderFormToken } from '../../frame/forms.ts';
import { type DomainRange, renderRanges, toRangeQuery } from '../../frame/range.ts';
import {
  formatCount,
  formatDay,
  formatPassRate,
  type Html,
  pluralize,
  renderText,
  renderTime,
} from '../../frame/text.ts';
import type { Visitor } from '../../visitor.ts';
import { renderReporters, renderResults } from './results-view.ts';
import { listKnown, renderMarkBadge, renderPhrase, toSourcePath } from './source-labels.ts';

export interface SourcePage {
  readonly domain: DomainRow;
  readonly address: string;
  readonly known: Pick<Source, 'name' | 'network'>;
  readonly range: DomainRange;
  /** When it was seen first and last, in or out of the range. */
  readonly span: { readonly oldest: Day | null; readonly newest: Day | null };
  readonly days: readonly SourceDay[];
  readonly breakdown: Breakdown;
  /** Messages without details. */
  readonly otherMessages: number;
  readonly advice: readonly Advice[];
  readonly mark: SourceMark | undefined;
  readonly visitor: Visitor;
  readonly now: Date;
}

export function renderSource(page: SourcePage): Html {
  const { domain, address, mark, range } = page;
  const list = `${toSourcePath(domain.id)}?${toRangeQuery(range)}`;
  return html`${renderTrail(domain, html`<a href="${list}">Sources</a>`, 'Address')}
    <h1 class="domain-name">${address}${renderMarkBadge(mark?.mark)}</h1>
    ${renderLead(page)}
    ${renderAdvice(page.advice)}
    ${renderTraffic(page)}
    ${page.days.length === 0 ? '' : renderDetails(page)}
    ${renderMark(page)}`;
}

function renderLead({ known, span }: SourcePage): Html {
  const texts = listKnown(known);
  const { oldest, newest } = span;
  const seen =
    oldest === null || newest === null
      ? 'Nothing is stored about this address.'
      : oldest === newest
        ? `Seen on ${formatDay(newest)}.`
        : `First seen on ${formatDay(oldest)}, last on ${formatDay(newest)}.`;
  return html`<p class="lead">${texts.map((text) => html`${text} · `)}${seen}</p>`;
}

function renderTraffic(page: SourcePage): Html {
  const { domain, address, range, days, span } = page;
  const path = toSourcePath(domain.id, address);
  const total = addUp(days);
  const columns = toColumns(days, range);
  return html`<section class="card" aria-labelledby="traffic">
    <h2 id="traffic">Traffic</h2>
    ${renderRanges(path, range)}
    ${
      days.length === 0
        ? renderNothing(path, span.newest)
        : html`<p class="figures"><b>${formatPassRate(total)}</b> of <b>${formatCount(total.messages)}</b> messages passed DMARC</p>
          ${renderVolume(columns)}
          <p class="legend"><span class="passed">Passed</span><span class="failed">Failed</span></p>
          ${renderNumbers(columns)}`
    }
  </section>`;
}

function renderNothing(path: string, newest: Day | null): Html {
  if (newest === null)
    return html`<p class="empty">This address sent nothing in the name of this domain, or less than a thousand others on the same day.</p>`;
  return html`<p class="empty">This address sent nothing in this range.
    <a href="${path}?from=${newest}&to=${newest}">Show ${formatDay(newest)}, when it was last seen</a></p>`;
}

function renderDetails(page: SourcePage): Html {
  const { breakdown, otherMessages } = page;
  return html`${renderResults(breakdown.results, otherMessages)}
    ${renderReporters(breakdown.reporters)}`;
}

const TONES = {
  act: ['Fails', 'warn'],
  improve: ['Passes', ''],
  good: ['Passes', 'good'],
} as const satisfies Record<Advice['tone'], readonly [string, string]>;

function renderAdvice(advice: readonly Advice[]): Html | '' {
  if (advice.length === 0) return '';
  return html`<section class="card" aria-labelledby="advice">
    <h2 id="advice">What to do</h2>
    <ul class="findings advice">${advice.map(({ tone, title, text, messages }) => {
      const [label, style] = TONES[tone];
      return html`<li>
        <span class="badge ${style}">${label}</span>
        <div><strong>${title}</strong> <span class="muted">${pluralize(messages, 'message')}</span><p>${renderPhrase(text)}</p></div>
      </li>`;
    })}</ul>
  </section>`;
}

const MARKS = {
  legitimate: 'Known and legitimate',
  unknown: 'Unknown',
  none: 'Take the mark away',
} as const;

function renderMark({ domain, address, mark, visitor, now }: SourcePage): Html {
  const current = mark?.mark ?? 'none';
  const choices = Object.entries(MARKS).filter(([choice]) => choice !== current);
  return html`<section class="card" aria-labelledby="mark">
    <h2 id="mark">Do you know this source?</h2>
    <p>${
      mark === undefined
        ? 'Nobody has marked it yet. A mark is for the people of your account; it changes no alert.'
        : html`${renderText(mark.markedBy, 254)} marked it as <strong>${mark.mark}</strong> ${renderTime(mark.markedAt, now)}.`
    }</p>
    <form method="post" action="${toSourcePath(domain.id, address)}/mark" class="choices start">
      ${renderFormToken(visitor)}
      ${choices.map(([choice, text]) => html`<button name="mark" value="${choice}" class="secondary">${text}</button>`)}
    </form>
  </section>`;
}
