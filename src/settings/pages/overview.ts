import { html } from 'hono/html';
import { addUp } from '../../domain/alerts/rate.ts';
import { addDays, type Day, toDay, toInstant } from '../../domain/instant.ts';
import { findNextStep, type NextStep, WINDOW_DAYS } from '../../domain/next-step.ts';
import type { DomainRow } from '../../store/accounts/domains.ts';
import { listReportAddresses } from '../../store/accounts/mail-address.ts';
import { readOverview } from '../../store/accounts/overview.ts';
import type { AlertOfAccount } from '../../store/alerts/alerts.ts';
import { readInboxOverview } from '../../store/inbox/overview.ts';
import type { PageHandler } from '../deps.ts';
import { type ChartDay, type Column, toColumns } from '../frame/charts/columns.ts';
import { renderSparkline } from '../frame/charts/sparkline.ts';
import { sendPage } from '../frame/page.ts';
import {
  formatDay,
  formatDomainName,
  formatPassRate,
  type Html,
  pluralize,
  renderDomainName,
  renderTime,
} from '../frame/text.ts';
import { readQuery } from '../request.ts';
import { visitorOf } from '../visitor.ts';
import { renderAlert } from './alert-words.ts';
import { renderInbox } from './inbox-view.ts';
import { renderNextStep } from './next-step-view.ts';

const DOMAINS_PER_PAGE = 25;
const MAX_ALERTS = 10;
/** Days that are read. A domain's month ends with its newest day, which may be so long ago. */
const READ_DAYS = 90;

type Read = Awaited<ReturnType<typeof readOverview>>;

/** An overview of the account: open alerts first, then its domains, then how reports come in. */
export const showOverview: PageHandler = async (deps, req, res) => {
  const { store, now } = deps;
  const at = now();
  const { accountId } = visitorOf(res);
  const page = toPageNumber(readQuery(req, 'page'));
  const today = toDay(toInstant(at));
  const read = await readOverview(store.reader, accountId, {
    since: addDays(today, 1 - READ_DAYS),
    alertLimit: MAX_ALERTS,
    limit: DOMAINS_PER_PAGE,
    offset: (page - 1) * DOMAINS_PER_PAGE,
  });
  const [address] = await listReportAddresses(store.db, accountId, deps);
  const rows = toSummaries(read, today).map((row) => renderDomain(row, address, at));
  const main = html`<h1>Overview</h1>
    ${page === 1 && read.total > 0 ? renderAlerts(read.alerts, at) : ''}
    ${renderDomains(rows, deps.mailHost !== undefined)}
    ${renderPages(page, Math.ceil(read.total / DOMAINS_PER_PAGE))}
    ${page === 1 ? renderInbox(await readInboxOverview(store.db), at) : ''}`;
  await sendPage(res, { title: 'Overview', current: 'overview', main });
};

/** A domain with its month, which ends with the newest day that has data. */
interface Summary {
  readonly domain: DomainRow;
  readonly newest: Day | null;
  /** Empty when the newest day is too long ago. */
  readonly columns: readonly Column[];
  readonly step: NextStep;
}

function toSummaries(read: Read, today: Day): Summary[] {
  const days = Map.groupBy(read.days, ({ domain_id }) => domain_id);
  const types = Map.groupBy(read.openTypes, ({ domain_id }) => domain_id);
  const spans = new Map(read.spans.map((span) => [span.domain_id, span]));
  const states = new Map(read.records.map(({ domain_id, state }) => [domain_id, state]));
  return read.domains.map((domain) => {
    const { oldest = null, newest = null } = spans.get(domain.id) ?? {};
    const month = toMonth(days.get(domain.id) ?? [], newest, today);
    const openAlerts = (types.get(domain.id) ?? []).map(({ type }) => type);
    const dataDays = month.filter(({ messages }) => messages > 0).length;
    const figures = { oldest, newest, counts: addUp(month), dataDays };
    const record = toRecord(states.get(domain.id));
    const { status } = domain;
    const step = findNextStep({ status, today, ...figures, record, openAlerts });
    return { domain, newest, columns: month, step };
  });
}

function toMonth(days: readonly ChartDay[], newest: Day | null, today: Day): readonly Column[] {
  if (newest === null) return [];
  const from = addDays(newest, 1 - WINDOW_DAYS);
  // Its days were not read.
  if (from < addDays(today, 1 - READ_DAYS)) return [];
  return toColumns(days, { from, to: newest }).columns;
}

function toRecord(state: string | undefined): string | null | undefined {
  return state === undefined ? undefined : JSON.parse(state).confirmed?.value;
}

function renderAlerts(alerts: readonly AlertOfAccount[], now: Date): Html {
  if (alerts.length === 0) {
    return html`<section class="card calm"><p>No alert is open. Those that have resolved are on the pages of their domains.</p></section>`;
  }
  return html`<section class="card" aria-labelledby="alerts">
    <h2 id="alerts">${pluralize(alerts.length, 'open alert')}${alerts.length === MAX_ALERTS ? ' (the latest)' : ''}</h2>
    <ul class="alerts">${alerts.map((alert) => renderAlert(withContext(alert), now))}</ul>
  </section>`;
}

function withContext(alert: AlertOfAccount) {
  return { ...alert, context: JSON.parse(alert.context) };
}

function renderDomains(rows: readonly Html[], hasOwnAddress: boolean): Html {
  if (rows.length === 0) return renderNoDomain(hasOwnAddress);
  return html`<section class="card" aria-labelledby="domains">
    <h2 id="domains">Domains</h2>
    <table class="domains cards" role="table">
      <thead role="rowgroup"><tr role="row">
        <th role="columnheader" scope="col">Domain</th>
        <th role="columnheader" scope="col">Pass rate, ${WINDOW_DAYS} days</th>
        <th role="columnheader" scope="col">Next step</th>
      </tr></thead>
      <tbody role="rowgroup">${rows}</tbody>
    </table>
  </section>`;
}

/** An account's own address claims a domain whose record names it (decision 77). */
function renderNoDomain(hasOwnAddress: boolean): Html {
  const own = html`<p>Or name this account’s own <a href="/settings/account">address for reports</a> in the DMARC record of a
    domain: with its first report it becomes yours.</p>`;
  return html`<section class="card calm">
    <h2>No domain yet</h2>
    <p>The operator of this Plumbline adds domains. Their reports and pass rates appear here.</p>
    ${hasOwnAddress ? own : html`<p>They need to know <a href="/settings/account">this account’s id</a>.</p>`}
  </section>`;
}

function renderDomain(
  { domain, newest, columns, step }: Summary,
  address: string | undefined,
  now: Date,
): Html {
  const { id, name, last_report_at } = domain;
  return html`<tr role="row">
    <th role="rowheader" scope="row"><a href="/settings/domains/${id}">${renderDomainName(name)}</a>
      <p class="muted">${last_report_at === null ? 'No report yet' : html`Last report ${renderTime(last_report_at, now)}`}</p></th>
    <td role="cell">${columns.length > 0 ? renderRate(columns, name) : renderNoRate(newest)}</td>
    <td role="cell" class="step">${renderNextStep(step, { id, name, address })}</td>
  </tr>`;
}

function renderRate(columns: readonly Column[], name: string): Html {
  const text = formatPassRate(addUp(columns));
  return html`<span class="rate">${renderSparkline(columns, formatDomainName(name))}<b>${text}</b></span>`;
}

function renderNoRate(newest: Day | null): Html {
  if (newest === null) return html`<span class="muted none">–</span>`;
  return html`<span class="muted">The newest report is of ${formatDay(newest)}</span>`;
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
