import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { Failure } from '../../domain/failure.ts';
import { visitorOf } from '../visitor.ts';

/** How many are sent at the same time by this process, and of one person or account; a slower client is cut off. */
interface DownloadKind {
  readonly max: number;
  readonly maxOfOne: number;
  readonly maxMs: number;
  readonly by: 'personId' | 'accountId';
  /** The key of each that is being sent. */
  readonly sending: string[];
}

const KINDS: Readonly<Record<'file' | 'account', DownloadKind>> = {
  /** Each occupies some megabytes. One person with slow downloads does not keep the others from theirs. */
  file: { max: 8, maxOfOne: 2, maxMs: 300_000, by: 'personId', sending: [] },
  /** An account with ten million reports has 20 GB. */
  account: { max: 2, maxOfOne: 1, maxMs: 6 * 3_600_000, by: 'accountId', sending: [] },
};

/** A client that takes nothing for so long has gone. */
const STALLED_MS = 60_000;

interface Download {
  readonly fileName: string;
  readonly type: string;
  readonly kind?: keyof typeof KINDS;
  /** When it is given, a client sees that a file is incomplete. */
  readonly bytes?: number | undefined;
  /** Each stream's bytes go through the next one. */
  readonly streams: readonly [Readable, ...Transform[]];
  /** Is called before the first byte is sent. */
  readonly onStart?: () => Promise<void>;
}

/** Sends a file to save, so that no browser shows it as a page. */
export async function sendDownload(res: Response, download: Download): Promise<void> {
  const { fileName, type, bytes, streams } = download;
  const headers = {
    'Content-Type': type,
    ...(bytes !== undefined && { 'Content-Length': `${bytes}` }),
    'Content-Disposition': `attachment; filename="${toSafeName(fileName)}"`,
    'Content-Security-Policy': "sandbox; default-src 'none'",
  };
  // Its answer has no body, but node would read all of it.
  if (res.req.method === 'HEAD') {
    for (const stream of streams) stream.destroy();
    res.set(headers).end();
    return;
  }
  const kind = KINDS[download.kind ?? 'file'];
  const end = startSending(kind, visitorOf(res)[kind.by]);
  try {
    await download.onStart?.();
    res.set(headers).setTimeout(STALLED_MS, () => res.destroy());
    await pipeline([...streams, res], { signal: AbortSignal.timeout(kind.maxMs) });
  } catch (error) {
    if (!isOfClient(error)) throw error;
  } finally {
    end();
  }
}

/** Returns what ends it. */
function startSending({ max, maxOfOne, sending }: DownloadKind, key: string): () => void {
  const own = sending.filter((other) => other === key).length;
  if (own >= maxOfOne || sending.length >= max)
    throw new Failure('unavailable', 'Too many files are being sent. Please try again soon.');
  sending.push(key);
  return () => void sending.splice(sending.indexOf(key), 1);
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
