import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import { answerClientError, MAX_HEADER_BYTES, requireValid } from './client-error.ts';
import type { Config } from './config.ts';
import { limitConnections } from './connections.ts';
import type { Store } from './store/open.ts';

/** Counted from the beginning of a connection or request: a slow sender keeps a connection from others. */
const HEADERS_TIMEOUT_MS = 5_000;
/** How often node looks for requests that are late; every 30 s unless it is told. */
const TIMEOUT_CHECK_MS = 1_000;
const REQUEST_TIMEOUT_MS = 15_000;
/** Longer than the minute that proxies keep a connection, so that it is they who end it. */
const KEEP_ALIVE_MS = 65_000;
/** How long answers under way may take when the process stops. */
const STOP_TIMEOUT_MS = 10_000;

export interface RunningServer {
  readonly url: string;
  /** Refuses new connections, lets answers under way finish, and closes what is open. */
  readonly stop: () => Promise<void>;
}

/** Serves the app on the configured address until it is stopped. The store is the caller's to close. */
export async function startServer(
  config: Config,
  { store, log, isSandbox = false }: { store: Store; log: Logger; isSandbox?: boolean },
): Promise<RunningServer> {
  let isStopping = false;
  const now = () => new Date();
  const app = await createApp({ config, store, log, now, isSandbox, isStopping: () => isStopping });
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Node's own refusal would have no body.
      requireHostHeader: false,
    },
    requireValid(app.express),
  );
  limitConnections(server, config, app.express);
  server.on('clientError', answerClientError);
  // What we cannot expect is ignored (RFC 9110, 10.1.1); node would answer 417 without a body.
  server.on('checkExpectation', (req, res) => server.emit('request', req, res));
  await listen(server, config);
  return {
    url: toUrl(server.address() as AddressInfo),
    stop: async () => {
      isStopping = true;
      await close(server);
      await app.flush();
    },
  };
}

function listen(server: Server, { host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function toUrl({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Connections that are idle, or become so, are ended at once; all others at the time limit. */
async function close(server: Server): Promise<void> {
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const deadline = setTimeout(() => server.closeAllConnections(), STOP_TIMEOUT_MS);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(sweep);
  clearTimeout(deadline);
}
