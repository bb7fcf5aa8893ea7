import type { Request, Response } from 'express';
import { html } from 'hono/html';
import { Failure } from '../../../domain/failure.ts';
import type { ReportContent, ReportLocation } from '../../../domain/reports/report-content.ts';
import {
  findReport,
  type ReportOfAccount,
  readReportContext,
} from '../../../store/reports/report-of-account.ts';
import type { PageHandler } from '../../deps.ts';
import { renderTrail } from '../../frame/elements.ts';
import { sendPage } from '../../frame/page.ts';
import { formatDomainName, type Html, renderDomainName } from '../../frame/text.ts';
import { idOf, readQuery } from '../../request.ts';
import { domainScopeOf, visitorOf } from '../../visitor.ts';
import { RECORDS_PER_PAGE, renderRecords } from './records-view.ts';
import { renderReporter } from './report-table.ts';
import { renderMetadata, renderPolicy, renderWarnings } from './report-view.ts';

/** The `Retry-After` when too many reports are being read. */
const RETRY_SECONDS = 5;

/** When the original cannot be read again, what is stored is shown alone. */
export const showReport: PageHandler = async (
  { store: { reader }, reportReader, now },
  req,
  res,
) => {
  const { personId } = visitorOf(res);
  const report = await findReport(reader, reportScopeOf(req, res));
  const context = await readReportContext(reader, report);
  const from = parseFirstRecord(readQuery(req, 'from'));
  const content = await reportReader
    .readRecords(locationOf(report), { records: { from, count: RECORDS_PER_PAGE }, personId })
    .catch(catchFailure);
  const main = html`${renderHead(report)}
    ${renderMetadata(report, context, { content, now: now() })}
    ${content instanceof Failure ? '' : renderPolicy(content.policyPublished)}
    ${content instanceof Failure ? renderProblem(content) : renderRecords(report, content, from)}
    ${renderWarnings(report.warnings)}`;
  const title = `Report of ${formatDomainName(report.domain)}`;
  await sendPage(res, { title, current: 'overview', main, status: statusOf(res, content) });
};

/** The report that a path names, which may be another account's: the store compares all ids. */
export function reportScopeOf(req: Request, res: Response) {
  return { ...domainScopeOf(req, res), reportId: idOf(req, 'report') };
}

export function locationOf(report: ReportOfAccount): ReportLocation {
  const { id, document_seq, payload_sha256, received_at } = report;
  return {
    reportId: id,
    documentSeq: document_seq,
    payloadSha256: payload_sha256,
    receivedAt: received_at,
  };
}

/** Rounded down to the beginning of a page. */
function parseFirstRecord(text: string): number {
  if (!/^\d{1,6}$/.test(text)) return 0;
  return Math.floor(Number(text) / RECORDS_PER_PAGE) * RECORDS_PER_PAGE;
}

function catchFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}

function statusOf(res: Response, content: ReportContent | Failure): number {
  if (!(content instanceof Failure) || content.code !== 'unavailable') return 200;
  res.set('Retry-After', String(RETRY_SECONDS));
  return 503;
}

function renderHead(report: ReportOfAccount): Html {
  const { domain_id: id, domain } = report;
  const list = html`<a href="/settings/domains/${id}/reports">Reports</a>`;
  return html`${renderTrail({ id, name: domain }, list, 'Report')}
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
