import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { toBody } from '../external/send.ts';
import { METHODS, STATUS_CODES } from './node-http.ts';

/** Request line and headers together. This also limits the length of a URL. */
export const MAX_HEADER_BYTES = 16 * 1024;
/** How long a client that did not send HTTP can read the answer. A half-closed connection would never end. */
const LINGER_MS = 2_000;

/** An absolute URL up to its path. User names and backslashes are not accepted: URL parsers read them in different ways. */
const ABSOLUTE = /^https?:\/\/([^\s/?#@\\]+)(?=[/?]|$)/i;

/** A request line for a path of the API, with any method (RFC 9110, 9.1: a token): node parses only some methods. */
const API_REQUEST = /^([!#$%&'*+.^_`|~\w-]+) (?:\/sandbox)?\/v1\/external\/\S* HTTP\/1\.[01]\r\n/;

interface ClientError {
  readonly status: 400 | 405 | 408 | 431;
  readonly code: string;
  readonly message: string;
  readonly header?: string;
}

const UNKNOWN_METHOD: ClientError = {
  status: 405,
  code: 'method_not_allowed',
  message: 'This path answers only to GET and HEAD.',
  header: 'Allow: GET, HEAD\r\n',
};

const BAD_REQUEST: ClientError = {
  status: 400,
  code: 'bad_request',
  message: 'This is not a valid HTTP request.',
};

const CLIENT_ERRORS: Readonly<Record<string, ClientError>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'headers_too_large',
    message: `The request line and headers may have ${MAX_HEADER_BYTES} bytes together.`,
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'request_timeout',
    message: 'The request did not arrive in time.',
  },
};

/** Input that is not HTTP gets the API's error body, after the answers to earlier requests on the connection. */
export function answerClientError(error: ParserError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  // Where node's own handler of these errors looks for the answer in progress.
  const { _httpMessage: pending } = socket as { _httpMessage?: ServerResponse | null };
  // A request whose body does not come has no answer to wait for.
  if (pending?.headersSent || pending?.req.complete)
    pending.once('close', () => answerClientError(error, socket));
  else end(socket, findClientError(error));
}

/** Node gives CONNECT only to this listener. Without it, node closes the connection. */
export function answerConnect(_req: IncomingMessage, socket: Duplex): void {
  end(socket, UNKNOWN_METHOD);
}

function end(socket: Duplex, { status, code, message, header = '' }: ClientError): void {
  const body = toBody({ error: { code, message } });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
      `Cache-Control: no-store\r\n${header}Content-Length: ${body.length}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  );
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** Node adds the bytes that it could not parse. */
interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
}

function findClientError({ code = '', rawPacket }: ParserError): ClientError {
  const [, method] = API_REQUEST.exec(rawPacket?.toString('latin1') ?? '') ?? [];
  // A known method begins a valid request: then the invalid bytes come after it.
  const isUnknown = method !== undefined && !METHODS.includes(method);
  if (code === 'HPE_INVALID_METHOD' && isUnknown) return UNKNOWN_METHOD;
  return CLIENT_ERRORS[code] ?? BAD_REQUEST;
}

/**
 * Rejects requests that node accepts. HTTP/1.1 requires one `Host` (RFC 9112, 3.2); node's own error would
 * have no body, and node keeps the first of several. A request's target has no fragment (3.2.1); with a
 * fragment, express answers in HTML. A target in absolute form (3.2.2) is converted to origin form.
 */
export function requireValid(listener: RequestListener): RequestListener {
  return (req, res) => {
    const wrong = findWrong(req);
    if (wrong === undefined) {
      listener(req, res);
      return;
    }
    const body = toBody({ error: { code: BAD_REQUEST.code, message: wrong } });
    res
      .writeHead(BAD_REQUEST.status, {
        'Content-Type': 'application/json',
        'Content-Length': body.length,
        'Cache-Control': 'no-store',
        Connection: 'close',
      })
      .end(body);
  };
}

function findWrong(req: IncomingMessage): string | undefined {
  const hosts = countHosts(req.rawHeaders);
  if (hosts > 1) return 'The request has more than one Host header.';
  if (hosts === 0 && req.httpVersion === '1.1') return 'The request has no Host header.';
  const { url = '' } = req;
  if (url.includes('#')) return 'The request target has a fragment (#).';
  if (url.startsWith('/') || url === '*') return undefined;
  return takeAbsolute(req, url) ? undefined : 'The request target is neither a path nor a URL.';
}

/** Names and values alternating, as received. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** The host of a target in absolute form replaces the `Host` header. */
function takeAbsolute(req: IncomingMessage, url: string): boolean {
  const [whole, host] = ABSOLUTE.exec(url) ?? [];
  if (whole === undefined) return false;
  const rest = url.slice(whole.length);
  req.url = rest.startsWith('/') ? rest : `/${rest}`;
  req.headers.host = host;
  return true;
}
