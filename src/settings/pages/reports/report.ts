import type { RequestHandler, Response } from 'express';
import { html } from 'hono/html';
import { Failure } from '../../../domain/failure.ts';
import type { ReportContent, ReportLocation } from '../../../domain/reports/report-content.ts';
import {
  findReport,
  type ReportOfAccount,
  readReportContext,
} from '../../../store/reports/report-of-account.ts';
import { readQuery } from '../../form.ts';
import { type Html, sendPage } from '../../frame/page.ts';
import { renderDomainName, toDomainText } from '../../frame/words.ts';
import type { Given } from '../../given.ts';
import { visitorOf } from '../../visitor.ts';
import { RECORDS_PER_PAGE, renderRecords } from './records-view.ts';
import { renderReporter } from './report-table.ts';
import { renderMetadata, renderPolicy, renderWarnings } from './report-view.ts';

/** A browser may ask again after so many seconds, when too many reports are being read. */
const RETRY_SECONDS = 5;

/**
 * One report: what is stored of it, and what is read again from its original, which may fail. What is
 * stored is then shown alone.
 */
export function showReport({ store: { reader }, reportReader, now }: Given): RequestHandler {
  return async (req, res) => {
    const { accountId, personId } = visitorOf(res);
    const ids = { domainId: String(req.params['id']), reportId: String(req.params['report']) };
    const report = await findReport(reader, { accountId, ...ids });
    const around = await readReportContext(reader, report);
    const from = toFirstRecord(readQuery(req, 'from'));
    const wanted = { from, count: RECORDS_PER_PAGE };
    const content = await reportReader
      .readRecords(toPlace(report), { records: wanted, personId })
      .catch(toFailure);
    const main = html`${renderHead(report)}
      ${renderMetadata(report, around, { content, now: now() })}
      ${content instanceof Failure ? '' : renderPolicy(content.policyPublished)}
      ${content instanceof Failure ? renderProblem(content) : renderRecords(report, content, from)}
      ${renderWarnings(report.warnings)}`;
    const title = `Report of ${toDomainText(report.domain)}`;
    await sendPage(res, { title, place: 'overview', main, status: toStatus(res, content) });
  };
}

export function toPlace(report: ReportOfAccount): ReportLocation {
  const { id, source_seq, payload_sha256, received_at } = report;
  return {
    reportId: id,
    inputSeq: source_seq,
    payloadSha256: payload_sha256,
    receivedAt: received_at,
  };
}

/** The index of the first record that is shown, at the beginning of a page. */
function toFirstRecord(text: string): number {
  if (!/^\d{1,6}$/.test(text)) return 0;
  return Math.floor(Number(text) / RECORDS_PER_PAGE) * RECORDS_PER_PAGE;
}

function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}

function toStatus(res: Response, content: ReportContent | Failure): number {
  if (!(content instanceof Failure) || content.code !== 'unavailable') return 200;
  res.set('Retry-After', String(RETRY_SECONDS));
  return 503;
}

function renderHead(report: ReportOfAccount): Html {
  const { domain_id: id, domain } = report;
  return html`<p class="trail"><a href="/settings/overview">Overview</a> /
      <a href="/settings/domains/${id}">${renderDomainName(domain)}</a> /
      <a href="/settings/domains/${id}/reports">Reports</a> / Report</p>
    <h1 class="domain-name">${renderReporter(report)}</h1>
    <p class="lead">An aggregate report about ${renderDomainName(domain)}</p>`;
}

function renderProblem({ code, message }: Failure): Html {
  return html`<section class="card" aria-labelledby="records">
    <h2 id="records">Records</h2>
    <p class="empty">${message}</p>
    <p class="muted">${
      code === 'unavailable'
        ? 'Records are read from the original when somebody looks at them.'
        : 'Records are read from the original, and only totals are stored beside it. The totals above stay right.'
    }</p>
  </section>`;
}
