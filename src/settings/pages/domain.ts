import { html, raw } from 'hono/html';
import { findAlertText } from '../../domain/alerts/alert-texts.ts';
import { findRule } from '../../domain/alerts/registry.ts';
import type { DomainFacts } from '../../domain/domain-facts.ts';
import { Failure } from '../../domain/failure.ts';
import { toDay, toInstant } from '../../domain/instant.ts';
import { describeStep } from '../../domain/next-step-texts.ts';
import { addUp, failedOf } from '../../domain/pass-rate.ts';
import { hasNoPassingMail } from '../../domain/readiness.ts';
import { formatDomainName, pluralize } from '../../domain/text.ts';
import { settleDomain } from '../../judging/work.ts';
import { listReportAddresses } from '../../store/accounts/mail-address.ts';
import { alertsOf, type ListedAlert } from '../../store/alerts/alert-list.ts';
import { findDataDays } from '../../store/domains/domain-reports.ts';
import type { DomainRow } from '../../store/domains/domains.ts';
import { findDay, readDomain } from '../../store/domains/overview.ts';
import { parseItems, readPage } from '../../store/lists/page.ts';
import { listLatestReports } from '../../store/reports/report-list.ts';
import type { ListedReport } from '../../store/reports/report-list-queries.ts';
import type { PageHandler } from '../deps.ts';
import { toChartColumns } from '../frame/charts/columns.ts';
import { renderIncidents, renderPassRate, toIncidents } from '../frame/charts/pass-rate.ts';
import { renderVolume } from '../frame/charts/volume.ts';
import { sendPage } from '../frame/page.ts';
import {
  type DomainRange,
  readRange,
  renderEmptyRange,
  renderRanges,
  renderTabs,
  toRangeQuery,
} from '../frame/range.ts';
import { type Html, renderDomainName, renderPassed, renderTime } from '../frame/text.ts';
import { domainScopeOf, visitorOf } from '../visitor.ts';
import { renderAlert } from './alert-view.ts';
import { renderBelieved } from './aside-view.ts';
import { renderRoute } from './domain-route.ts';
import { renderFailures } from './failures-view.ts';
import { renderPolicy, renderReadiness } from './readiness-view.ts';
import { renderReportTable } from './reports/report-table.ts';
import { renderSenderRecords } from './sender-records-view.ts';
import { renderSendsNoMail } from './sends-no-mail.ts';
import { renderStoppedSenders } from './sources/stopped-senders.ts';
import { renderDomainTls } from './tls/tls-view.ts';
import { renderWords } from './words.ts';
import { renderStep } from './work-item-view.ts';

const LATEST_REPORTS = 8;
const LATEST_ALERTS = { limit: 10, offset: 0 };
const FEWEST_IN_CONTENTS = 4;

type Read = Awaited<ReturnType<typeof readDomain>> &
  Pick<DomainFacts, 'record' | 'dns'> & { readonly statedOn: string | undefined };

export const showDomain: PageHandler = async (deps, req, res) => {
  const { db, reader } = deps.store;
  const at = deps.now();
  const visitor = visitorOf(res);
  const scope = domainScopeOf(req, res);
  const today = toDay(toInstant(at));
  const range = readRange(req, await findDataDays(reader, scope, today), at);
  const charted = await readDomain(reader, scope, { today, ...range });
  const { domain } = charted;
  const settled = await settleDomain({ ...deps, ...deps.store }, { ...scope, now: at });
  if (settled === undefined) throw new Failure('not_found', 'No such domain.');
  const { settled: facts, senders, mail, results, step, statedOn } = settled;
  const read = { ...charted, record: facts.record, dns: facts.dns, statedOn };
  const failed = failedOf(facts.counts);
  const latest = { domainId: domain.id, limit: LATEST_REPORTS };
  const reports = await listLatestReports(reader, latest);
  const alerts = await readPage(reader, alertsOf(scope), LATEST_ALERTS);
  const [address] = await listReportAddresses(db, visitor.accountId, deps);
  const stopped = renderStoppedSenders(senders, domain.id);
  const view = { ...read, ...results, facts, failed, senders: stopped, mail };
  const resolved = parseItems(alerts).filter(({ resolved_at }) => resolved_at !== null);
  const isInOrder = step.kind === 'nothing' && read.open.length === 0;
  const readiness = renderReadiness({ ...view, domainId: domain.id });
  const failures = renderFailures(results, failed);
  const said = describeStep(step, { ...domain, dns: facts.dns, address });
  const sections = html`${isInOrder ? '' : readiness}
    ${renderTraffic(read, range)}
    ${isInOrder ? html`<details class="card"><summary>Who sent, and what was stopped</summary>${readiness}${failures}</details>` : failures}
    ${await renderSenderRecords(deps, domain.id)}
    ${await renderDomainTls(deps, { scope, domain, address })}
    ${renderResolved(resolved, at)}
    ${renderReports(domain, reports)}
    ${await renderRoute(deps, domain, { visitor, dns: facts.dns })}
    ${renderSendsNoMail(domain, visitor, { isProposed: hasNoPassingMail(facts) })}
    ${renderWords()}`;
  const main = html`${renderHead(read, at)}
    ${renderTabs(domain.id, 'Summary', range)}
    <div class="card step${isInOrder ? ' calm' : ''}"><section aria-labelledby="next">
      <h2 id="next">${isInOrder ? 'In order' : 'Next step'}</h2>
      <p>${renderStep(said, domain.id)}</p></section>
      ${isInOrder ? '' : renderAlerts(read, { total: alerts.total, said: said.text, now: at })}
    </div>
    ${renderContents(await sections)}
    ${sections}`;
  await sendPage(res, { title: formatDomainName(domain.name), current: 'overview', main });
};

function renderHead(read: Read, now: Date): Html {
  const { name, status, last_report_at } = read.domain;
  return html`<p class="trail"><a href="/settings/overview">Overview</a> / Domain</p>
    <h1 class="domain-name">${renderDomainName(name)}${status === 'paused' ? html` <span class="badge">Paused</span>` : ''}</h1>
    <p class="lead">${
      last_report_at === null
        ? 'No report was received yet.'
        : html`${renderPolicy(read)} Last report received ${renderTime(last_report_at, now)}.`
    }</p>`;
}

/** The sections below, where there are several. */
function renderContents(sections: string): Html | '' {
  const heads = [...sections.matchAll(/<h2 id="([\w-]+)">([^<]+)/g)];
  if (heads.length < FEWEST_IN_CONTENTS) return '';
  const links = heads.map(([, id, text]) => html`<a href="#${id}">${raw(text)}</a>`);
  return html`<nav class="ranges contents" aria-label="On this page">${links}</nav>`;
}

/** All of them, however long ago they fired, in the card of the step that one of them may cause. */
function renderAlerts(
  { open, domain: { id } }: Read,
  { total, said, now }: { readonly total: number; readonly said: string; readonly now: Date },
): Html {
  const shown = open.map((alert) =>
    renderAlert({ ...alert, domain_id: id, context: JSON.parse(alert.context) }, now, said),
  );
  return open.length === 0
    ? html`<p class="muted">${total === 0 ? 'No alert has fired yet.' : 'No alert is open.'}</p>`
    : html`<section aria-labelledby="alerts"><h3 id="alerts">Open alerts</h3><ul class="alerts">${shown}</ul></section>`;
}

function renderResolved(resolved: readonly ListedAlert[], now: Date): Html | '' {
  if (resolved.length === 0) return '';
  return html`<details class="card"><summary>${pluralize(resolved.length, 'alert')} that resolved, of the latest ${LATEST_ALERTS.limit}</summary>
    <ul class="alerts">${resolved.map((alert) => renderAlert(alert, now))}</ul>
  </details>`;
}

function renderTraffic(read: Read, range: DomainRange): Html {
  const { domain, days } = read;
  const path = `/settings/domains/${domain.id}`;
  return html`<section class="card" aria-labelledby="traffic">
    <h2 id="traffic">Traffic</h2>
    ${renderRanges(path, range)}
    ${renderBelieved(read, `${path}/reports?${toRangeQuery(range)}`)}
    ${days.length === 0 ? renderEmptyRange(path, range) : renderCharts(read, { ...range, path })}
  </section>`;
}

function renderCharts(
  { days, past, isPastCut, steps }: Read,
  { path, ...range }: DomainRange & { readonly path: string },
): Html {
  const columns = { ...toChartColumns(days, range), steps };
  // The pass rate has nothing to do with how mail to the domain was encrypted.
  const shown = past.filter(({ type }) => findRule(type)?.link !== 'tls');
  const fired = shown.map(({ type, context, ...times }) => ({
    ...times,
    title: findAlertText(type).title,
    day: findDay(context),
  }));
  const { incidents, more } = toIncidents(fired, range);
  return html`<p class="figures">${renderPassed(addUp(days))}.
      <a href="${path}/sources?${toRangeQuery(range)}">See who sent them</a></p>
    ${renderPassRate(columns, incidents)}
    ${renderIncidents(incidents, { count: more, isAll: !isPastCut })}
    ${renderVolume(columns)}`;
}

function renderReports(
  { id, reports_total: total }: DomainRow,
  rows: readonly ListedReport[],
): Html | '' {
  if (rows.length === 0) return '';
  return html`<section class="card" aria-labelledby="reports">
    <div class="beside"><h2 id="reports">Latest reports</h2>
      <a href="/settings/domains/${id}/reports">All reports</a></div>
    <p class="muted">${rows.length === total ? 'All' : `The latest ${rows.length}`} of ${pluralize(total, 'report')}.</p>
    ${renderReportTable(id, rows)}
  </section>`;
}
