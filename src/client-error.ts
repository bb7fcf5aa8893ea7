import { type IncomingMessage, type RequestListener, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { toBody } from './external/send.ts';

/** Request line and headers together; a URL cannot be longer than this either. */
export const MAX_HEADER_BYTES = 16 * 1024;
/** How long a client that sent no HTTP has to read the answer; half-closed, it would stay for ever. */
const LINGER_MS = 2_000;

/** Up to the path. Neither user names nor backslashes, which URL parsers read in different ways. */
const ABSOLUTE = /^https?:\/\/([^\s/?#@\\]+)(?=[/?]|$)/i;

interface ClientError {
  readonly status: 400 | 408 | 431;
  readonly code: string;
  readonly message: string;
}

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

/** What is not HTTP never reaches Express; it is answered in the API's error shape all the same. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const clientError = CLIENT_ERRORS[error.code ?? ''] ?? BAD_REQUEST;
  const { status, code, message } = clientError;
  const body = toBody({ error: { code, message } });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
      `Cache-Control: no-store\r\nContent-Length: ${body.length}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  );
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/**
 * Refuses what node lets through: HTTP/1.1 demands one `Host` (RFC 9112, 3.2; node's own refusal would have no
 * body, and it keeps the first of several), and a request's target has no fragment (3.2.1; with some, express
 * answers in HTML by itself). A target in absolute form (3.2.2) goes on in origin form.
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

/** Names and values by turns, as they came. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** In absolute form the target's host stands for the `Host` header. */
function takeAbsolute(req: IncomingMessage, url: string): boolean {
  const [whole, host] = ABSOLUTE.exec(url) ?? [];
  if (whole === undefined) return false;
  const rest = url.slice(whole.length);
  req.url = rest.startsWith('/') ? rest : `/${rest}`;
  req.headers.host = host;
  return true;
}
