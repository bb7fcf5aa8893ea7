import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import type { Response } from 'express';
import { Failure } from '../../../domain/failure.ts';
import { toDay } from '../../../domain/instant.ts';
import { isGzip } from '../../../domain/reports/original.ts';
import { findOriginal, type StoredOriginal } from '../../../store/documents/originals.ts';
import { findReport, type ReportOfAccount } from '../../../store/reports/report-of-account.ts';
import type { PageHandler } from '../../deps.ts';
import { visitorOf } from '../../visitor.ts';
import { reportScopeOf } from './report.ts';

/** Each occupies some megabytes while it is sent. */
const MAX_SENDING = 8;
/** One person with slow downloads does not keep the others from theirs. */
const MAX_OF_PERSON = 2;
/** A slower client is cut off. */
const MAX_SEND_MS = 300_000;

/**
 * What is kept of a report, as it came: a part of its input with no other report in it (decision 112). It is sent as a
 * file to save, so that no browser shows it as a page.
 */
export const sendOriginal: PageHandler = async ({ store }, req, res) => {
  const { personId } = visitorOf(res);
  const report = await findReport(store.reader, reportScopeOf(req, res));
  const original = await findOriginal(store.db, report.document_seq);
  startSending(personId);
  try {
    res.set({
      'Content-Type': 'application/octet-stream',
      'Content-Length': `${original.size}`,
      'Content-Disposition': `attachment; filename="${toFileName(report)}${toExtension(original)}"`,
      'Content-Security-Policy': "sandbox; default-src 'none'",
    });
    // A client that goes away is no error of ours.
    await send(original, res).catch(() => undefined);
  } finally {
    sending.splice(sending.indexOf(personId), 1);
  }
};

async function send({ encoding, parts }: StoredOriginal, res: Response): Promise<void> {
  const signal = AbortSignal.timeout(MAX_SEND_MS);
  const stored = Readable.from(parts);
  if (encoding === 'as_is') return await pipeline(stored, res, { signal });
  await pipeline(stored, createZstdDecompress(), res, { signal });
}

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
  return `${name}-${toDay(begin_date)}-${id.slice(0, 8)}`;
}

function toExtension({ encoding, first }: StoredOriginal): string {
  if (encoding === 'zstd') return '.xml';
  return isGzip(first) ? '.xml.gz' : '.zip';
}
