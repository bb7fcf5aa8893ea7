import { html } from 'hono/html';
import type { DomainFacts } from '../../domain/domain-facts.ts';
import { addDays, type DayRange, toDay, toInstant } from '../../domain/instant.ts';
import { describeStep } from '../../domain/next-step-texts.ts';
import { addUp, toChange } from '../../domain/pass-rate.ts';
import { LAG_DAYS } from '../../domain/readiness.ts';
import { formatCount, formatDay, formatDomainName } from '../../domain/text.ts';
import type { ShownItem, WorkItem } from '../../judging/work.ts';
import { type ChartColumn, toChartColumns } from '../frame/charts/columns.ts';
import { renderBar } from '../frame/charts/volume.ts';
import {
  describePassed,
  formatRateInColumn,
  type Html,
  renderDomainName,
  renderTime,
} from '../frame/text.ts';
import { renderAside } from './aside-view.ts';
import { toPolicyText } from './readiness-view.ts';

export interface WorkItemView {
  readonly item: ShownItem;
  readonly range: DayRange;
  readonly address: string | undefined;
  readonly now: Date;
}

export function renderWorkItem({ item, range, address, now }: WorkItemView): Html {
  const { id, name, facts, days, step } = item;
  const { counts } = facts;
  return html`<tr role="row">
    <th role="rowheader" scope="row"><a href="/settings/domains/${id}">${renderDomainName(name)}</a></th>
    <td role="cell" class="number" data-label="Messages">${formatCount(counts.messages)}</td>
    <td role="cell" class="number" data-label="Passed">${counts.messages === 0 ? html`<span class="muted none">–</span>` : html`<span class="rate">${renderSparkline(toChartColumns(days, range).columns, formatDomainName(name))}<b>${formatRateInColumn(counts)}</b></span>`}</td>
    <td role="cell" class="number" data-label="Change in points">${renderChange(facts)}</td>
    <td role="cell" data-label="Policy">${renderPolicy(item)}</td>
    <td role="cell" data-label="Last report">${renderLastReport(item, now)}</td>
    <td role="cell" class="step">${renderStep(describeStep(step, { id, name, address, dns: facts.dns }), id)}${renderAside(item, `/settings/domains/${id}/reports?from=${range.from}&to=${range.to}`)}</td>
  </tr>`;
}

function renderLastReport({ lastReportAt, facts: { newest } }: WorkItem, now: Date): Html {
  if (lastReportAt === null) return html`<span class="muted none">No report yet</span>`;
  const isOld = newest !== null && newest < addDays(toDay(toInstant(now)), -LAG_DAYS);
  return html`${renderTime(lastReportAt, now)}${isOld ? html`<br><span class="muted">of ${formatDay(newest)}</span>` : ''}`;
}

export function renderStep(
  { text, code, link }: ReturnType<typeof describeStep>,
  domainId: string,
): Html {
  return html`${text}${code === undefined ? '' : html` <code>${code}</code>`}${
    link === undefined
      ? ''
      : html` <a href="/settings/domains/${domainId}${link[0]}">${link[1]}</a>`
  }`;
}

/** The change is in points; “new” without messages before. */
export function renderChange(of: Pick<DomainFacts, 'counts' | 'before'>): Html {
  const change = toChange(of);
  if (change === undefined) return html`${of.counts.messages === 0 ? '–' : 'new'}`;
  const sign = change === 0 ? '' : change > 0 ? '+' : '−';
  const text = `${sign}${Math.abs(change).toFixed(2)}`;
  return html`<span ${change < 0 ? html`class="wrong"` : ''}>${text}</span>`;
}

function renderPolicy({ facts: { record } }: WorkItem): Html | string {
  if (record === undefined) return html`<span class="muted none">–</span>`;
  return record === null ? 'no record' : toPolicyText(record);
}

/** The least height of failures in a column, in hundredths, so that one in a thousand is visible. */
const MIN_FAILED = 4;

function renderSparkline(columns: readonly ChartColumn[], name: string): Html {
  const bars = columns.map(({ messages, aligned }, i) => {
    if (messages === 0) return renderBar('none', i, [96, 4]);
    const share = ((messages - aligned) / messages) * 100;
    const failed = aligned === messages ? 0 : Math.round(Math.max(MIN_FAILED, share) * 10) / 10;
    return html`${renderBar('failed', i, [0, failed])}${renderBar('passed', i, [failed, 100 - failed])}`;
  });
  const summary = `Pass rate of ${name}, ${columns.length} days: ${describePassed(addUp(columns))}`;
  return html`<svg class="spark" viewBox="0 0 ${columns.length} 100" preserveAspectRatio="none" role="img" aria-label="${summary}">${bars}</svg>`;
}
