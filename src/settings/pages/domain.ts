import type { RequestHandler } from 'express';
import { html } from 'hono/html';
import type { DomainRow } from '../../store/accounts/domains.ts';
import { readDomain } from '../../store/accounts/overview.ts';
import { alertsOf, type ListedAlert } from '../../store/alerts/alert-list.ts';
import { parseItems, readPage } from '../../store/lists/page.ts';
import { type ReportRow, reportsOf } from '../../store/reports/reports.ts';
import { readQuery } from '../form.ts';
import {
  type ChartDay,
  firstDay,
  renderNumbers,
  renderPassRate,
  renderVolume,
  sum,
  toChartDays,
} from '../frame/chart.ts';
import { type Html, sendPage } from '../frame/page.ts';
import { renderTime, toCount, toCounted, toPassRate } from '../frame/words.ts';
import type { Given } from '../given.ts';
import { visitorOf } from '../visitor.ts';
import { renderAlert } from './alert-words.ts';
import { renderRoute } from './domain-route.ts';
import { renderReportTable } from './reports/report-table.ts';

const RANGES = [30, 90] as const;
const LATEST_REPORTS = { limit: 20, offset: 0 };
const LATEST_ALERTS = { limit: 10, offset: 0 };

/** One domain: its alerts as text, its days as charts, its latest reports, and what they need in DNS. */
export function showDomain(given: Given): RequestHandler {
  const { now } = given;
  const { reader } = given.store;
  return async (req, res) => {
    const at = now();
    const count = RANGES.find((range) => readQuery(req, 'days') === String(range)) ?? RANGES[0];
    const visitor = visitorOf(res);
    const scope = { accountId: visitor.accountId, domainId: String(req.params['id']) };
    const { domain, days } = await readDomain(reader, scope, firstDay(at, count));
    const reports = await readPage(reader, reportsOf(scope), LATEST_REPORTS);
    const alerts = await readPage(reader, alertsOf(scope), LATEST_ALERTS);
    const main = html`${renderHead(domain, at)}
      ${renderAlerts(parseItems(alerts), at)}
      ${renderCharts(domain, toChartDays(days, { now: at, count }))}
      ${renderReports(domain, parseItems(reports), reports.total)}
      ${await renderRoute(given, domain, visitor)}`;
    await sendPage(res, { title: domain.name, place: 'overview', main });
  };
}

function renderHead({ name, status, last_report_at }: DomainRow, now: Date): Html {
  return html`<p class="trail"><a href="/settings/overview">Overview</a> / Domain</p>
    <h1 class="domain-name">${name}${status === 'paused' ? html` <span class="badge">Paused</span>` : ''}</h1>
    <p class="lead">${
      last_report_at === null
        ? 'No report was received yet.'
        : html`Last report ${renderTime(last_report_at, now)}.`
    }</p>`;
}

function renderAlerts(alerts: readonly ListedAlert[], now: Date): Html {
  const openFirst = alerts.toSorted(
    (a, b) => Number(a.resolved_at !== null) - Number(b.resolved_at !== null),
  );
  return html`<section class="card" aria-labelledby="alerts">
    <h2 id="alerts">Alerts</h2>
    ${
      alerts.length === 0
        ? html`<p class="muted">No alerts yet.</p>`
        : html`<ul class="alerts">${openFirst.map((alert) => renderAlert(alert, now))}</ul>`
    }
  </section>`;
}

function renderCharts({ id }: DomainRow, days: readonly ChartDay[]): Html {
  const total = sum(days);
  const ranges = RANGES.map(
    (range) =>
      html`<a href="/settings/domains/${id}?days=${range}" ${range === days.length ? html`aria-current="true"` : ''}>${range} days</a>`,
  );
  return html`<section class="card" aria-labelledby="traffic">
    <div class="beside"><h2 id="traffic">Traffic</h2><nav class="ranges" aria-label="Range">${ranges}</nav></div>
    <p class="figures"><b>${toPassRate(total)}</b> of <b>${toCount(total.messages)}</b> messages passed DMARC</p>
    ${renderPassRate(days)}
    ${renderVolume(days)}
    <p class="legend"><span class="passed">Passed</span><span class="failed">Failed</span></p>
    ${renderNumbers(days)}
  </section>`;
}

function renderReports({ id }: DomainRow, rows: readonly ReportRow[], total: number): Html {
  if (total === 0) return html``;
  return html`<section class="card" aria-labelledby="reports">
    <div class="beside"><h2 id="reports">Latest reports</h2>
      <a href="/settings/domains/${id}/reports">All reports</a></div>
    <p class="muted">${rows.length === total ? 'All' : `The latest ${rows.length}`} of ${toCounted(total, 'report')}.</p>
    ${renderReportTable(id, rows)}
  </section>`;
}
