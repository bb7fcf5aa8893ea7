import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import type { Config } from '../config/config.ts';
import { Failure } from '../domain/failure.ts';
import { describeSystemError } from '../domain/system-error.ts';
import type { Store } from '../store/engine/store.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { readState, type WatchedConfig } from './state.ts';

/** Answers with what the process counts. Throws a Failure that names the variable when the port cannot be opened. */
export async function openMetricsPort(
  config: WatchedConfig,
  { host, port }: NonNullable<Config['metrics']>,
  deps: { store: Pick<Store, 'db'>; log: Logger; metrics?: Metrics | undefined },
) {
  const { store, log, metrics = createMetrics() } = deps;
  const readAll = async () =>
    `${await metrics.registry.metrics()}\n${await readState(config, store.db)}`;
  const server = createServer(answer(readAll, log));
  server.listen(port, host);
  await once(server, 'listening').catch((error) => {
    const why = `port ${port} of ${host} cannot be opened: ${describeSystemError(error)}`;
    throw new Failure('unavailable', `PLUMBLINE_METRICS_PORT, PLUMBLINE_METRICS_HOST: ${why}.`);
  });
  return {
    metrics,
    stop: () => {
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
