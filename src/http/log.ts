import { fstatSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import pino, { type Logger } from 'pino';
import { toSiteNetwork } from '../domain/network-address.ts';
import type { ApiRequest } from '../external/request.ts';
import type { Metrics } from '../metrics/metrics.ts';

/** A key in the wrong place (a path, a request's id, an error) is still a key, and must never be logged. */
const ANY_KEY = /(plb_(?:live|test)_)[0-9A-Za-z]*/g;

/** As much of a key as people are shown, of a good one and of any other. */
const PREFIX = /plb_(?:live|test)_[0-9A-Za-z]{4}/;

const ENCODED = /%[0-9a-f]{2}/gi;
/** Text with more layers of percent-encoding is not logged. */
const MAX_DECODINGS = 5;

/** How many characters of log are collected for one write, and for how long at most. */
const BUFFER_LENGTH = 15 * 1024;
const FLUSH_MS = 500;
/** How many bytes of log wait while they cannot be written. */
const MAX_WAITING = 16 * 2 ** 20;
const STDERR = 2;

/** Whether systemd's journal gets what is written to the stream (systemd.exec(5), `$JOURNAL_STREAM`). */
export function isJournal({ fd }: { readonly fd: number }): boolean {
  const { dev, ino } = fstatSync(fd);
  return process.env['JOURNAL_STREAM'] === `${dev}:${ino}`;
}

/** The journal takes the level of a line from a number at its beginning (sd-daemon(3)); 6 is what is informational. */
const PRIORITIES = new Map(Object.entries({ fatal: 2, error: 3, warn: 4, debug: 7, trace: 7 }));
const toJournal = (line: string) => `<${PRIORITIES.get(line.split('"', 4)[3] ?? '') ?? 6}>${line}`;

/** JSON lines on standard error, with RFC 3339 times and names of levels, because standard output has a command's result; readable text on a terminal. */
export function createLog(level: string): Logger {
  const common = { level, serializers: ERROR_SERIALIZERS };
  if (process.stderr.isTTY) {
    const options = { destination: STDERR, ignore: 'pid,hostname' };
    return pino({ ...common, transport: { target: 'pino-pretty', options } });
  }
  const { isoTime: timestamp } = pino.stdTimeFunctions;
  return pino(
    { ...common, timestamp, formatters: { level: (label) => ({ level: label }) } },
    collectLines(openStderr()),
  );
}

/** Lines wait while they cannot be written, as on a full disk. Without it, sonic-boom tries for ever, and nothing else runs. */
function openStderr() {
  const destination = pino.destination({ dest: STDERR, sync: false, maxLength: MAX_WAITING });
  return destination.on('error', () => {
    destination.flushSync = () => undefined;
  });
}

/**
 * Gives lines to the destination many at a time. sonic-boom's own `minLength` copies and measures all that it has
 * collected for each new line, which took a fifth of a 304.
 */
function collectLines(destination: ReturnType<typeof pino.destination>) {
  let lines = '';
  const flush = () => {
    if (lines !== '') destination.write(lines);
    lines = '';
  };
  setInterval(flush, FLUSH_MS).unref();
  process.once('exit', () => {
    destination.flushSync();
    // What is begun without waiting is lost when the process ends.
    const last = pino.destination({ dest: STDERR, sync: true });
    last.on('error', () => undefined).write(lines);
  });
  const isInJournal = isJournal(process.stderr);
  return {
    write: (line: string) => {
      lines += isInJournal ? toJournal(line) : line;
      if (lines.length >= BUFFER_LENGTH) flush();
    },
    flush,
  };
}

/** One line for each request, when its answer is over. pino-http's logger would cost a twelfth of the request. */
export function logRequests(log: Logger, metrics?: Metrics) {
  return (req: ApiRequest, res: ServerResponse): void => {
    const startedAt = performance.now();
    const { method, url = '' } = req;
    res.once('close', () => {
      const ms = performance.now() - startedAt;
      const { operation = toArea(url), tool, status = res.statusCode, reason } = req;
      const limit = status === 429 ? toLimit(req) : undefined;
      metrics?.observeRequest({
        // Express changes the request's URL: this is the target that came in.
        operation,
        status,
        sandbox: req.isSandbox,
        seconds: ms / 1000,
        limit,
      });
      const level = status >= 500 ? 'error' : 'info';
      log[level]({
        request_id: withoutKeys(req.id),
        client: req.ip && toSiteNetwork(req.ip),
        key: PREFIX.exec(`${req.headers.authorization}`)?.[0],
        account_id: req.accountId,
        person_id: req.personId,
        sandbox: req.isSandbox,
        method,
        // The query is left out: it may contain anything.
        path: withoutKeys(url.split('?', 1)[0] ?? ''),
        tool,
        status,
        limit: req.limit ?? limit,
        reason,
        ms: Math.round(ms),
        // The caller closed the connection before the answer was complete.
        ...(res.writableFinished ? undefined : { aborted: true }),
      });
    });
  };
}

/** The first part of a path outside the API; any other path is `other`, because clients can invent paths. */
const AREAS = ['docs', 'mcp', 'settings', 'healthz', 'readyz'];
/** What counts requests that are no operation's. */
export const OTHER_AREAS: readonly string[] = [...AREAS, 'invalid', 'other'];

function toArea(url: string): string {
  if (/^(?:\/sandbox)?\/v1\//.test(url)) return 'invalid';
  const [, first = ''] = /^\/([a-z]+)(?=[/?]|$)/.exec(url) ?? [];
  return AREAS.includes(first) ? first : 'other';
}

/** The limit by key is applied once that by address has let the request through. */
function toLimit({ ipLimit, keyLimit }: ApiRequest): string {
  return keyLimit?.name ?? ipLimit?.name ?? 'settings';
}

/** The text with every key replaced by its prefix. A percent-encoded key is decoded first. */
export function withoutKeys(text: string): string {
  // As nearly every text: none, and nothing that could be one.
  if (!text.includes('%') && !text.includes('plb_')) return text;
  const decoded = decode(text);
  if (decoded === undefined) return '…';
  const masked = decoded.replace(ANY_KEY, '$1…');
  return masked === decoded ? text : masked;
}

/** undefined when there are too many layers of percent-encoding. Decodes ASCII alone, which is enough for keys. */
function decode(text: string): string | undefined {
  let decoded = text;
  for (let i = 0; i <= MAX_DECODINGS; i++) {
    const before = decoded;
    if (!before.includes('%')) return before;
    decoded = before.replace(ENCODED, (code) =>
      String.fromCharCode(Number.parseInt(code.slice(1), 16)),
    );
    if (decoded === before) return decoded;
  }
  return undefined;
}

/** pino's form of an error, without keys in its message, its stack or its other properties. */
function toLoggedError(error: Error): unknown {
  const known = pino.stdSerializers.err(error);
  try {
    return JSON.parse(JSON.stringify(known), (_name, value) =>
      typeof value === 'string' ? withoutKeys(value) : value,
    );
  } catch {
    return { message: withoutKeys(String(error)) };
  }
}

export const ERROR_SERIALIZERS = { err: toLoggedError };
