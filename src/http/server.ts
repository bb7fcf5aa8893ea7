import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Config } from '../config/config.ts';
import { createApp } from './app.ts';
import {
  answerClientError,
  answerConnect,
  MAX_HEADER_BYTES,
  requireValid,
} from './client-error.ts';
import { limitConnections } from './connections.ts';
import { SHIPPED_NETWORKS } from './networks.ts';
import { createServer } from './node-http.ts';
import { warnOfSharing } from './shared-port.ts';
import { prepareStop } from './stopping.ts';

/** Counted from the start of a connection or request: a slow sender occupies a connection. */
const HEADERS_TIMEOUT_MS = 5_000;
/** How often node checks for late requests. The default is 30 s. */
const TIMEOUT_CHECK_MS = 1_000;
const REQUEST_TIMEOUT_MS = 15_000;
/** People have slow lines: 25 MiB at one megabit a second, and some slack. */
const UPLOAD_TIMEOUT_MS = 300_000;
const UPLOAD = /^\/settings\/account\/uploads\?/;
/** Longer than the minute for which proxies keep a connection, so that the proxy closes it. */
const KEEP_ALIVE_MS = 65_000;

type ServerDeps = Pick<Parameters<typeof createApp>[0], 'store' | 'log' | 'isSandbox' | 'metrics'>;

/** Serves the app on the configured address until it is stopped. The caller closes the store. */
export async function startServer(config: Config, deps: ServerDeps) {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    requestTimeout: UPLOAD_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Node's own error answer would have no body.
    requireHostHeader: false,
    // No handler waits for the end of a body that a request does not have.
    optimizeEmptyRequests: true,
  });
  const { isStopping, stop } = prepareStop(server, config.stopDelayMs);
  const now = () => new Date();
  const common = { now, isStopping, shippedNetworks: SHIPPED_NETWORKS };
  const app = await createApp({ ...deps, ...common, config });
  server.on('request', limitBody);
  server.on('request', requireValid(app.listener));
  limitConnections(server, config, app.isTrusted);
  server.on('clientError', answerClientError);
  server.on('connect', answerConnect);
  // Unknown expectations are ignored (RFC 9110, 10.1.1); node would answer 417 without a body.
  server.on('checkExpectation', (req, res) => server.emit('request', req, res));
  server.listen({ host: config.host, port: config.port, reusePort: config.sharesPort });
  await once(server, 'listening');
  if (config.sharesPort) warnOfSharing(config, deps.log);
  return {
    url: toUrl(server.address() as AddressInfo),
    /** Loses no request (stopping.ts). */
    stop: async (delayMs?: number) => {
      await stop(delayMs);
      await app.flush();
    },
  };
}

const toLate = () => Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });

/** Node's own limit, which is that of an upload, holds for a whole server. */
function limitBody(req: IncomingMessage): void {
  const { headers, url = '', socket } = req;
  const hasBody = headers['content-length'] ?? headers['transfer-encoding'];
  if (hasBody === undefined || UPLOAD.test(url)) return;
  const end = () => req.complete || answerClientError(toLate(), socket);
  const timer = setTimeout(end, REQUEST_TIMEOUT_MS);
  req.once('close', () => clearTimeout(timer));
}

function toUrl({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
