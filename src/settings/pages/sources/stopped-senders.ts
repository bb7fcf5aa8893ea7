import { html } from 'hono/html';
import { addUp, failedOf } from '../../../domain/alerts/rate.ts';
import type { GroupName } from '../../../domain/sources/groups.ts';
import { formatCount, pluralize } from '../../../domain/text.ts';
import type { SourceSum } from '../../../store/days/summed-range.ts';
import { renderTable } from '../../frame/elements.ts';
import { type Html, renderText } from '../../frame/text.ts';
import type { Senders } from './service-groups.ts';
import { MAX_TITLE, toSourcePath } from './source-labels.ts';
import { renderVerdict } from './verdict-view.ts';

const SHOWN = 8;
/** As many sources are judged, with most failed messages, as the list of sources names: all but those of a flood. */
export const MAX_JUDGED = 5_000;

interface Stopped extends GroupName {
  readonly failed: number;
  readonly sources: number;
}

/** Sources of which a policy would stop messages. */
export interface StoppedSources {
  /** Most failed messages first, at most 5,000. */
  readonly failing: readonly SourceSum[];
  readonly count: number;
}

/** Whose messages a policy would stop, with the verdict on each sender: a forger is told apart from a forgotten server. */
export function renderStoppedSenders(
  { failing, count }: StoppedSources,
  toGroup: Senders['toGroup'],
  domainId: string,
): Html | '' {
  if (count === 0) return '';
  const named = failing.map((source) => ({ ...source, name: toGroup(source.address) }));
  const groups = [...Map.groupBy(named, ({ name }) => toKey(name)).values()]
    .map((group): Stopped => {
      const [{ name }] = group as [(typeof named)[number]];
      return { ...name, failed: failedOf(addUp(group)), sources: group.length };
    })
    .sort((a, b) => b.failed - a.failed);
  const rows = groups.slice(0, SHOWN).map((group) => renderGroup(group, domainId));
  const more = groups.length - SHOWN;
  return html`<h3>Whose messages would be stopped</h3>
    ${renderTable('cards readiness', ['Sender', ['Would be stopped', 'number']], rows)}
    ${count > MAX_JUDGED ? html`<p class="muted">Of the ${formatCount(MAX_JUDGED)} sources with most failed messages.</p>` : ''}
    ${more > 0 ? html`<p class="muted">${pluralize(more, 'sender')} with fewer messages ${more === 1 ? 'is' : 'are'} not listed here.</p>` : ''}`;
}

/** Addresses that are known by no name are told apart by the verdict only: a forger can have hundreds. */
function toKey(name: GroupName): string {
  return isNamed(name) ? `${name.verdict} ${name.key}` : `${name.verdict}`;
}

const isNamed = ({ key, title }: GroupName) => key !== title;

function renderGroup({ verdict, failed, sources, ...name }: Stopped, domainId: string): Html {
  const [title, path] = isNamed(name)
    ? [name.title ?? '', `?${new URLSearchParams({ failing: '1', within: name.key })}`]
    : sources === 1
      ? [name.key, `/${encodeURIComponent(name.key)}`]
      : ['Sources without a name', '?failing=1&group=address'];
  return html`<tr role="row">
    <th role="rowheader" scope="row"><a href="${toSourcePath(domainId)}${path}">${renderText(title, MAX_TITLE)}</a> ${verdict === undefined ? '' : renderVerdict(verdict)}${sources === 1 ? '' : html` <small>${pluralize(sources, 'source')}</small>`}</th>
    <td role="cell" class="number" data-label="Would be stopped">${formatCount(failed)}</td>
  </tr>`;
}
