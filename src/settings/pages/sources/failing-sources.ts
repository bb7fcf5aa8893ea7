import { html } from 'hono/html';
import { addUp, type Counts, failedOf } from '../../../domain/alerts/rate.ts';
import { addDays, daysBetween } from '../../../domain/instant.ts';
import { formatCount, formatDay, pluralize } from '../../../domain/text.ts';
import type { DomainOfAccount } from '../../../store/lists/heads.ts';
import type { SettingsDeps } from '../../deps.ts';
import type { ChartDay } from '../../frame/charts/columns.ts';
import { type DomainRange, toRangeQuery } from '../../frame/range.ts';
import type { Html } from '../../frame/text.ts';
import { describe } from './find-sources.ts';
import type { Senders } from './service-groups.ts';
import { toSourcePath } from './source-labels.ts';
import { renderSourceTable } from './sources-view.ts';

const SHOWN = 5;
/** This section covers the last days of a long range only, so that the domain's page stays fast. */
const MAX_DAYS = 31;
const LAST_DAYS = 30;

interface FailingView {
  readonly range: DomainRange;
  readonly days: readonly ChartDay[];
  /** undefined when no message failed. */
  readonly toGroup: Senders['toGroup'] | undefined;
}

/** The caller has checked that the domain is the account's. */
export async function renderFailingSources(
  deps: SettingsDeps,
  scope: DomainOfAccount,
  { range: ofPage, days, toGroup }: FailingView,
): Promise<Html> {
  const range = shorten(ofPage);
  const failed = addUp(days.filter(({ day }) => day >= range.from && day <= range.to));
  const wanted = { scope, range, failingOnly: true, limit: SHOWN, offset: 0 };
  const found = await deps.days.listSources(wanted);
  const sources = (await describe(deps, scope, found)).map((source) => ({
    ...source,
    service: toGroup?.(source.address).service?.name,
  }));
  const path = toSourcePath(scope.domainId);
  const more = found.total - sources.length;
  return html`<section class="card" aria-labelledby="failing">
    <div class="beside">
      <h2 id="failing">Failing sources${range === ofPage ? '' : html` <span class="muted">${formatDay(range.from)} to ${formatDay(range.to)}</span>`}</h2>
      <a href="${path}?${toRangeQuery(ofPage)}">All sources</a>
    </div>
    ${sources.length === 0 ? html`<p class="muted">No address had failed messages in this range.</p>` : html`${renderSourceTable(sources, scope.domainId, range)}${describeShare(addUp(sources), failed)}`}
    ${more > 0 ? html`<p class="muted"><a href="${path}?${toRangeQuery(range, { failing: '1' })}">${pluralize(more, 'more failing source')}</a></p>` : ''}
  </section>`;
}

/** The others failed at other addresses, or came without one. */
function describeShare(listed: Counts, all: Counts): Html {
  const [own, total] = [listed, all].map((counts) => formatCount(failedOf(counts)));
  const which = own === total ? `All ${total}` : `${own} of the ${total}`;
  return html`<p class="muted">${which} messages that failed are from these addresses.</p>`;
}

function shorten(range: DomainRange): DomainRange {
  if (daysBetween(range.from, range.to) < MAX_DAYS) return range;
  return { ...range, from: addDays(range.to, 1 - LAST_DAYS), choice: 'custom' };
}
