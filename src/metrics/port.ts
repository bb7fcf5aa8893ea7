import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import type { Config } from '../config/config.ts';
import type { Store } from '../store/engine/store.ts';
import { createMetrics } from './metrics.ts';
import { readState, type WatchedConfig } from './state.ts';

export type OpenMetrics = Awaited<ReturnType<typeof openMetricsPort>>;

/** Counts for this process, and answers with what it counts. */
export async function openMetricsPort(
  config: WatchedConfig,
  { host, port }: NonNullable<Config['metrics']>,
  { store, log }: { readonly store: Pick<Store, 'db'>; readonly log: Logger },
) {
  const metrics = createMetrics();
  const readAll = async () =>
    `${await metrics.registry.metrics()}\n${await readState(config, store.db)}`;
  const server = createServer(answer(readAll, log));
  server.listen(port, host);
  await once(server, 'listening').catch((err) => log.error({ err }, 'metrics are not served'));
  return {
    metrics,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answer(readAll: () => Promise<string>, log: Logger): RequestListener {
  return async ({ method, url }, res) => {
    if ((method !== 'GET' && method !== 'HEAD') || url !== '/metrics') {
      res.writeHead(404).end();
      return;
    }
    try {
      const text = await readAll();
      res.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text);
    } catch (err) {
      // The database is away: to a monitor the process is down.
      log.warn({ err }, 'metrics could not be read');
      res.writeHead(503).end();
    }
  };
}
