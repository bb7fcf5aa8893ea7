import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { answerClientError } from './client-error.ts';

/** Node's own, counted from the start of a connection or request: a slow sender occupies a connection. */
export const ARRIVAL_TIMEOUTS = {
  headersTimeout: 5_000,
  /** People have slow lines: an upload of 25 MiB at one megabit a second, and some slack. */
  requestTimeout: 300_000,
  /** How often node looks for late requests. The default is 30 s. */
  connectionsCheckingInterval: 1_000,
};
const BODY_TIMEOUT_MS = 15_000;
const UPLOAD = /^\/settings\/account\/uploads\?/;
const LATE = 'ERR_HTTP_REQUEST_TIMEOUT';

/**
 * Answers 408 to requests that are late. After a stall of the process, timers run before the bytes are read that came
 * meanwhile, so a request may have arrived whole: what waits is read first.
 */
export function limitArrival(server: Server): void {
  const late = new Set<Socket>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code !== LATE) {
      answerClientError(error, socket);
      return;
    }
    late.add(socket);
    afterReading(() => late.delete(socket) && answerClientError(error, socket));
  });
  server.on('request', (req) => {
    late.delete(req.socket);
    limitBody(req);
  });
}

/** Node's own limit, which is that of an upload, holds for a whole server. */
function limitBody(req: IncomingMessage): void {
  const { headers, url = '', socket } = req;
  const hasBody = headers['content-length'] ?? headers['transfer-encoding'];
  if (hasBody === undefined || UPLOAD.test(url)) return;
  const error = Object.assign(new Error(), { code: LATE });
  const end = () => req.complete || answerClientError(error, socket);
  const timer = setTimeout(() => afterReading(end), BODY_TIMEOUT_MS);
  req.once('close', () => clearTimeout(timer));
}

/** The event loop reads from sockets between its timers and its immediates. */
const afterReading = (run: () => unknown) => void setImmediate(run);
