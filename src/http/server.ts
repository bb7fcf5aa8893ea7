import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Config } from '../config/config.ts';
import { createApp } from './app.ts';
import { answerConnect, MAX_HEADER_BYTES, requireValid } from './client-error.ts';
import { limitConnections } from './connections.ts';
import { ARRIVAL_TIMEOUTS, limitArrival } from './late-requests.ts';
import { SHIPPED_NETWORKS } from './networks.ts';
import { createServer } from './node-http.ts';
import { warnOfSharing } from './shared-port.ts';
import { prepareStop } from './stopping.ts';

/** Longer than the minute for which proxies keep a connection, so that the proxy closes it. */
const KEEP_ALIVE_MS = 65_000;

type ServerDeps = Pick<Parameters<typeof createApp>[0], 'store' | 'log' | 'isSandbox' | 'metrics'>;

/** Serves the app on the configured address until it is stopped. The caller closes the store. */
export async function startServer(config: Config, deps: ServerDeps) {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    ...ARRIVAL_TIMEOUTS,
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
  limitArrival(server);
  server.on('request', requireValid(app.listener));
  limitConnections(server, config, app.isTrusted);
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

function toUrl({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
