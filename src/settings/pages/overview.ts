import type { RequestHandler } from 'express';
import { html } from 'hono/html';
import type { DomainRow } from '../../store/accounts/domains.ts';
import { readOverview } from '../../store/accounts/overview.ts';
import type { AlertOfAccount } from '../../store/alerts/alerts.ts';
import { readInboxOverview } from '../../store/inbox/overview.ts';
import { readQuery } from '../form.ts';
import { type ChartDay, firstDay, renderSparkline, sum, toChartDays } from '../frame/chart.ts';
import { type Html, sendPage } from '../frame/page.ts';
import { renderTime, toCounted, toPassRate } from '../frame/words.ts';
import type { Given } from '../given.ts';
import { visitorOf } from '../visitor.ts';
import { renderAlert } from './alert-words.ts';
import { renderInbox } from './inbox-view.ts';

const DAYS = 30;
const DOMAINS_PER_PAGE = 25;
const MAX_ALERTS = 10;

/** An overview of the account: open alerts first, then its domains, then how reports come in. */
export function showOverview({ store, now }: Given): RequestHandler {
  return async (req, res) => {
    const at = now();
    const page = toPageNumber(readQuery(req, 'page'));
    const { total, domains, days, alerts } = await readOverview(
      store.reader,
      visitorOf(res).accountId,
      {
        since: firstDay(at, DAYS),
        alertLimit: MAX_ALERTS,
        limit: DOMAINS_PER_PAGE,
        offset: (page - 1) * DOMAINS_PER_PAGE,
      },
    );
    const rowsOf = Map.groupBy(days, ({ domain_id }) => domain_id);
    const rows = domains.map((domain) =>
      renderDomain(domain, toChartDays(rowsOf.get(domain.id) ?? [], { now: at, count: DAYS }), at),
    );
    const main = html`<h1>Overview</h1>
      ${page === 1 ? renderAlerts(alerts, at) : ''}
      ${renderDomains(rows)}
      ${renderPages(page, Math.ceil(total / DOMAINS_PER_PAGE))}
      ${page === 1 ? renderInbox(await readInboxOverview(store.db), at) : ''}`;
    await sendPage(res, { title: 'Overview', place: 'overview', main });
  };
}

function renderAlerts(alerts: readonly AlertOfAccount[], now: Date): Html {
  if (alerts.length === 0) {
    return html`<section class="card calm"><p>No alert is open.</p></section>`;
  }
  return html`<section class="card" aria-labelledby="alerts">
    <h2 id="alerts">${toCounted(alerts.length, 'open alert')}${alerts.length === MAX_ALERTS ? ' (the latest)' : ''}</h2>
    <ul class="alerts">${alerts.map((alert) => renderAlert(withContext(alert), now))}</ul>
  </section>`;
}

function withContext(alert: AlertOfAccount) {
  return { ...alert, context: JSON.parse(alert.context) };
}

function renderDomains(rows: readonly Html[]): Html {
  if (rows.length === 0) {
    return html`<section class="card calm">
      <h2>No domain yet</h2>
      <p>The operator of this Plumbline adds domains. Their reports and pass rates appear here.</p>
    </section>`;
  }
  return html`<section class="card" aria-labelledby="domains">
    <h2 id="domains">Domains</h2>
    <table class="domains cards" role="table">
      <thead role="rowgroup"><tr role="row">
        <th role="columnheader" scope="col">Domain</th>
        <th role="columnheader" scope="col">Pass rate, ${DAYS} days</th>
        <th role="columnheader" scope="col">Last report</th>
      </tr></thead>
      <tbody role="rowgroup">${rows}</tbody>
    </table>
  </section>`;
}

function renderDomain({ id, name, last_report_at }: DomainRow, days: ChartDay[], now: Date): Html {
  return html`<tr role="row">
    <th role="rowheader" scope="row"><a href="/settings/domains/${id}">${name}</a></th>
    <td role="cell"><span class="rate">${renderSparkline(days, name)}<b>${toPassRate(sum(days))}</b></span></td>
    <td role="cell" data-label="Last report">${last_report_at === null ? 'none yet' : renderTime(last_report_at, now)}</td>
  </tr>`;
}

function renderPages(page: number, pages: number): Html | '' {
  if (pages <= 1) return '';
  const link = (to: number, text: string) =>
    to >= 1 && to <= pages ? html`<a href="/settings/overview?page=${to}">${text}</a>` : '';
  return html`<nav class="pages" aria-label="Pages of domains">
    ${link(page - 1, 'Previous')}<span>Page ${page} of ${pages}</span>${link(page + 1, 'Next')}
  </nav>`;
}

function toPageNumber(text: string): number {
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 1;
}
