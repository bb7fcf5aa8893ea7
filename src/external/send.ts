import type { Request, Response } from 'express';
import helmet from 'helmet';
import { toRateLimitHeaders } from './limits.ts';

/** Names and values by turns: node writes such a list as it is, and looks at each header set alone four times. */
type HeaderList = readonly string[];

export interface Answer {
  readonly status: number;
  readonly headers: HeaderList;
  /** JSON; none for a status that has no body. */
  readonly body?: Buffer;
}

/** The one way out for every answer in JSON, with the headers that all of them carry. */
export function send(req: Request, res: Response, { status, headers, body }: Answer): void {
  const list = [
    'X-Request-Id',
    req.id,
    ...SECURITY_HEADERS,
    ...toRateLimitHeaders(req),
    ...headers,
    ...(body === undefined ? [] : toContentHeaders(body)),
  ];
  res.writeHead(status, list).end(body);
}

/** A value as a body: JSON and a newline, for the people who read it on a terminal. */
export function toBody(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

// JSON has no charset (RFC 8259, section 11).
function toContentHeaders(body: Buffer): HeaderList {
  return ['Content-Type', 'application/json', 'Content-Length', `${body.length}`];
}

/** JSON is no page: it loads nothing, is framed nowhere, and is nobody's referrer. */
const SECURITY_HEADERS = recordHeaders(
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
  }),
);

/** What a middleware sets is the same for every request; it is asked once. */
function recordHeaders(middleware: ReturnType<typeof helmet>): HeaderList {
  const list: string[] = [];
  const setHeader = (name: string, value: string) => list.push(name, value);
  const recorder = { setHeader, removeHeader: () => undefined };
  middleware({} as Request, recorder as unknown as Response, () => undefined);
  return list;
}
