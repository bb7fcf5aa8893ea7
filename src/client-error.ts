import { type IncomingMessage, type RequestListener, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { toBody } from './external/send.ts';

/** Request line and headers together; a URL cannot be longer than this either. */
export const MAX_HEADER_BYTES = 16 * 1024;
/** How long a client that sent no HTTP has to read the answer; half-closed, it would stay for ever. */
const LINGER_MS = 2_000;

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
 * Refuses what node lets through: HTTP/1.1 demands a `Host` (RFC 9112, 3.2; node's own refusal would have no
 * body), and a request's target has no fragment (3.2.1; with some, express answers in HTML by itself).
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

function findWrong({ headers, httpVersion, url = '' }: IncomingMessage): string | undefined {
  if (headers.host === undefined && httpVersion === '1.1') return 'The request has no Host header.';
  return url.includes('#') ? 'The request target has a fragment (#).' : undefined;
}
