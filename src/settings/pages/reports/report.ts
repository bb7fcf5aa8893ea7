import { Readable } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';
import type { Request, Response } from 'express';
import { html } from 'hono/html';
import { toDay } from '../../../domain/instant.ts';
import { hasGzipMagic } from '../../../domain/reports/original.ts';
import { unpackContent } from '../../../domain/reports/report-content.ts';
import { formatDay, formatDomainName, toSafeText } from '../../../domain/text.ts';
import { findOriginal, type StoredOriginal } from '../../../store/documents/originals.ts';
import {
  findReport,
  type ReportOfAccount,
  readReportContext,
} from '../../../store/reports/report-of-account.ts';
import type { PageHandler } from '../../deps.ts';
import { sendDownload } from '../../frame/download.ts';
import { renderTrail } from '../../frame/elements.ts';
import { sendPage } from '../../frame/page.ts';
import { type Html, renderDomainName } from '../../frame/text.ts';
import { idOf, readWholeNumber } from '../../request.ts';
import { domainScopeOf } from '../../visitor.ts';
import { renderWords } from '../words.ts';
import { renderRecords } from './records-view.ts';
import { nameReporter, renderReporter } from './report-table.ts';
import { renderMetadata, renderPublishedPolicy, renderWarnings } from './report-view.ts';

export const showReport: PageHandler = async ({ store: { reader }, now }, req, res) => {
  const report = await findReport(reader, reportScopeOf(req, res));
  const context = await readReportContext(reader, report);
  const content = unpackContent(report.content);
  const main = html`${renderHead(report)}
    ${renderMetadata(report, context, { content, now: now() })}
    ${renderPublishedPolicy(content.policyPublished)}
    ${renderRecords(report, content, readWholeNumber(req, 'from') ?? 0)}
    ${renderWarnings(report.warnings)}
    ${renderWords()}`;
  const reporter = toSafeText(nameReporter(report), MAX_TITLE);
  const title = `${reporter}, ${formatDay(report.begin_date)} · ${formatDomainName(report.domain)}`;
  await sendPage(res, { title, current: 'overview', main });
};

const MAX_TITLE = 60;

/** The report that a path names, which may be another account's: the store compares all ids. */
export function reportScopeOf(req: Request, res: Response) {
  return { ...domainScopeOf(req, res), reportId: idOf(req, 'report') };
}

function renderHead(report: ReportOfAccount): Html {
  const { domain_id: id, domain } = report;
  const list = html`<a href="/settings/domains/${id}/reports">Reports</a>`;
  return html`${renderTrail({ id, name: domain }, list, 'Report')}
    <h1 class="domain-name">${renderReporter(report)}</h1>
    <p class="lead">An aggregate report about ${renderDomainName(domain)}</p>`;
}

/**
 * What is kept of a report, as it came: a part of its input with no other report in it (decision 112). It is sent as a
 * file to save, so that no browser shows it as a page.
 */
export const sendOriginal: PageHandler = async ({ store }, req, res) => {
  const report = await findReport(store.reader, reportScopeOf(req, res));
  const original = await findOriginal(store.db, report.document_seq);
  const stored = Readable.from(original.parts);
  await sendDownload(res, {
    fileName: `${toFileName(report)}${toExtension(original)}`,
    type: 'application/octet-stream',
    bytes: original.size,
    streams: original.encoding === 'as_is' ? [stored] : [stored, createZstdDecompress()],
  });
};

/** The name has no ending. */
export function toFileName({ domain, begin_date, id }: ReportOfAccount): string {
  return `${domain.slice(0, 100)}-${toDay(begin_date)}-${id.slice(0, 8)}`;
}

function toExtension({ encoding, first }: StoredOriginal): string {
  if (encoding === 'zstd') return '.xml';
  return hasGzipMagic(first) ? '.xml.gz' : '.zip';
}
