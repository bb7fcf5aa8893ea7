import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { Failure } from '../../domain/failure.ts';
import { visitorOf } from '../visitor.ts';

/** Each occupies some megabytes while it is sent. */
const MAX_SENDING = 8;
/** One person with slow downloads does not keep the others from theirs. */
const MAX_OF_PERSON = 2;
/** A slower client is cut off. */
const MAX_SEND_MS = 300_000;

interface Download {
  readonly fileName: string;
  readonly type: string;
  /** Where it is known, so that a client sees that a file is incomplete. */
  readonly bytes?: number | undefined;
  /** Each stream's bytes go through the next one. */
  readonly streams: readonly [Readable, ...Transform[]];
}

/** Sends a file to save, so that no browser shows it as a page. */
export async function sendDownload(res: Response, download: Download): Promise<void> {
  const { fileName, type, bytes, streams } = download;
  const { personId } = visitorOf(res);
  startSending(personId);
  try {
    res.set({
      'Content-Type': type,
      ...(bytes !== undefined && { 'Content-Length': `${bytes}` }),
      'Content-Disposition': `attachment; filename="${toSafeName(fileName)}"`,
      'Content-Security-Policy': "sandbox; default-src 'none'",
    });
    await pipeline([...streams, res], { signal: AbortSignal.timeout(MAX_SEND_MS) });
  } catch (error) {
    if (!isOfClient(error)) throw error;
  } finally {
    sending.splice(sending.indexOf(personId), 1);
  }
}

/** The persons to whom this process is sending files, once for each file. */
const sending: string[] = [];

function startSending(personId: string): void {
  const own = sending.filter((other) => other === personId).length;
  if (own >= MAX_OF_PERSON || sending.length >= MAX_SENDING)
    throw new Failure('unavailable', 'Too many files are being sent. Please try again soon.');
  sending.push(personId);
}

/** Only characters that mean nothing to a header, a file system or a shell. */
function toSafeName(name: string): string {
  return name.replace(/[^a-zA-Z0-9.-]/g, '_').slice(0, 150);
}

/** A client that goes away, or is too slow, is no error of ours. */
function isOfClient(error: unknown): boolean {
  const { name, code } = error as Error & { readonly code?: string };
  return name === 'AbortError' || CLIENT_GONE.has(code ?? '');
}

const CLIENT_GONE = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);
