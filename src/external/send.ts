import type { ServerResponse } from 'node:http';
import helmet from 'helmet';
import { toRateLimitHeaders } from './limits.ts';
import type { ApiRequest } from './request.ts';

/** Alternating names and values: node writes this list as it is, and checks each header set alone four times. */
type HeaderList = readonly string[];

interface Answer {
  readonly status: number;
  readonly headers: HeaderList;
  /** JSON; undefined for a status that has no body. */
  readonly body?: Body;
}

/** Text costs less than bytes when it is sent once: node writes it together with the headers. */
export type Body = Buffer | string;

/** Sends every JSON answer, with the headers that all of them have. */
export function sendAnswer(
  req: ApiRequest,
  res: ServerResponse,
  { status, headers, body }: Answer,
): void {
  const list = [
    'X-Request-Id',
    req.id,
    ...SECURITY_HEADERS,
    ...toRateLimitHeaders(req),
    ...headers,
  ];
  if (body === undefined) {
    res.writeHead(status, list).end();
    return;
  }
  const byteCount = Buffer.byteLength(body);
  // ASCII alone is written as Latin-1, which node copies without looking at each character.
  const encoding = byteCount === body.length ? 'latin1' : 'utf8';
  // JSON has no charset (RFC 8259, section 11).
  list.push('Content-Type', 'application/json', 'Content-Length', `${byteCount}`);
  res.writeHead(status, list).end(body, encoding);
}

/** A value as a body: JSON and a newline, for display on a terminal. */
export function toBody(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

/** The security headers of a JSON answer: it loads nothing and must not be framed. */
const SECURITY_HEADERS = recordHeaders(
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
  }),
);

/** The headers that a middleware sets. They are the same for every request, so they are recorded once. */
function recordHeaders(middleware: ReturnType<typeof helmet>): HeaderList {
  const list: string[] = [];
  const setHeader = (name: string, value: string) => list.push(name, value);
  const recorder = { setHeader, removeHeader: () => undefined };
  middleware({} as ApiRequest, recorder as unknown as ServerResponse, () => undefined);
  return list;
}
