import { Readable } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';
import { toDay } from '../../../domain/instant.ts';
import { isGzip } from '../../../domain/reports/original.ts';
import { findOriginal, type StoredOriginal } from '../../../store/documents/originals.ts';
import { findReport, type ReportOfAccount } from '../../../store/reports/report-of-account.ts';
import type { PageHandler } from '../../deps.ts';
import { sendDownload } from '../../frame/download.ts';
import { reportScopeOf } from './report.ts';

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

/** Without an ending. */
export function toFileName({ domain, begin_date, id }: ReportOfAccount): string {
  return `${domain.slice(0, 100)}-${toDay(begin_date)}-${id.slice(0, 8)}`;
}

function toExtension({ encoding, first }: StoredOriginal): string {
  if (encoding === 'zstd') return '.xml';
  return isGzip(first) ? '.xml.gz' : '.zip';
}
