import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Failure } from '../../../domain/failure.ts';
import { toDay } from '../../../domain/instant.ts';
import { findReport, type ReportOfAccount } from '../../../store/reports/report-of-account.ts';
import type { PageHandler } from '../../deps.ts';
import { visitorOf } from '../../visitor.ts';
import { locationOf, reportScopeOf } from './report.ts';

/** Each occupies up to 8 MB while it is sent. */
const MAX_SENDING = 8;
/** One person with slow downloads does not keep the others from theirs. */
const MAX_OF_PERSON = 2;
/** A slower client is cut off. */
const MAX_SEND_MS = 300_000;

/**
 * Only the XML document of a report: its input may contain reports of other accounts (decision 96). It is sent as a
 * file to save, so that no browser shows it as a page.
 */
export const sendOriginal: PageHandler = async ({ store, reportReader }, req, res) => {
  const { personId } = visitorOf(res);
  const report = await findReport(store.reader, reportScopeOf(req, res));
  startSending(personId);
  try {
    const gzip = await reportReader.readDocument(locationOf(report), personId);
    res.set({
      'Content-Type': 'application/octet-stream',
      'Content-Disposition': `attachment; filename="${toFileName(report)}"`,
      'Content-Security-Policy': "sandbox; default-src 'none'",
    });
    const signal = AbortSignal.timeout(MAX_SEND_MS);
    // A client that goes away is no error of ours.
    await pipeline(Readable.from([gzip]), createGunzip(), res, { signal }).catch(() => undefined);
  } finally {
    sending.splice(sending.indexOf(personId), 1);
  }
};

/** The persons to whom this process is sending originals, once for each original. */
const sending: string[] = [];

function startSending(personId: string): void {
  const own = sending.filter((other) => other === personId).length;
  if (own >= MAX_OF_PERSON || sending.length >= MAX_SENDING)
    throw new Failure('unavailable', 'Too many originals are being sent. Please try again soon.');
  sending.push(personId);
}

/** Only characters that mean nothing to a header, a file system or a shell. */
function toFileName({ domain, begin_date, id }: ReportOfAccount): string {
  const name = domain.replace(/[^a-z0-9.-]/g, '_').slice(0, 100);
  return `${name}-${toDay(begin_date)}-${id.slice(0, 8)}.xml`;
}
