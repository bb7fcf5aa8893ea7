import type { RequestHandler } from 'express';
import pino, { type Logger } from 'pino';

/** A key in the wrong place (a path, a request's id) is still a key: it must never be logged. */
const ANY_KEY = /plb_live_[0-9A-Za-z]*/g;

/** How many bytes of log are gathered for one write, and for how long at the most. */
const BUFFER_BYTES = 4_096;
const FLUSH_MS = 500;
const STDERR = 2;

/** JSON lines on standard error, which leaves standard output to a command's result; pretty on a terminal. */
export function createLog(level: string): Logger {
  if (process.stderr.isTTY) {
    const options = { destination: STDERR, ignore: 'pid,hostname' };
    return pino({ level, transport: { target: 'pino-pretty', options } });
  }
  const destination = pino.destination({ dest: STDERR, sync: false, minLength: BUFFER_BYTES });
  const log = pino({ level }, destination);
  setInterval(() => log.flush(), FLUSH_MS).unref();
  return log;
}

/**
 * One line for each request: its id, method, path and status, and how long it took. pino-http would make a
 * logger for each request, at a twelfth of the request's whole cost.
 */
export function logRequests(log: Logger): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now();
    const { method, originalUrl } = req;
    res.once('close', () => {
      const level = res.statusCode >= 500 ? 'error' : 'info';
      log[level]({
        request_id: withoutKeys(req.id),
        method,
        path: toLoggedPath(originalUrl),
        status: res.statusCode,
        ms: Math.round(performance.now() - startedAt),
        // The caller went away before the answer was out.
        ...(res.writableFinished ? undefined : { aborted: true }),
      });
    });
    next();
  };
}

/** The path without the query, which can hold anything. */
function toLoggedPath(url: string): string {
  return withoutKeys(url.split('?', 1)[0] ?? '');
}

export function withoutKeys(text: string): string {
  return text.replace(ANY_KEY, 'plb_live_…');
}
