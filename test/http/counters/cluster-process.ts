/** A primary process with two workers that serve one database, each on a port of its own. */
import cluster from 'node:cluster';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { createApp } from '../../../src/http/app.ts';
import { serveCounters } from '../../../src/http/counters/primary.ts';
import { openStore } from '../../../src/store/engine/open.ts';

if (cluster.isPrimary) {
  cluster.setupPrimary({ args: process.argv.slice(2) });
  cluster.on('message', (_worker, message: { port?: number }) => {
    if (message.port !== undefined) process.send?.(message.port);
  });
  for (let i = 0; i < 2; i++) serveCounters(cluster.fork());
  // Workers end with their primary.
  process.once('disconnect', () => process.exit());
} else {
  await serve(process.argv[2] ?? '');
}

async function serve(database: string): Promise<void> {
  const log = pino({ level: 'silent' });
  const { listener } = await createApp({
    config: {
      requestsPerIp: 1_000_000,
      requestsPerKey: 60,
      pageCacheBytes: 1024 * 1024,
      trustedProxies: [],
    },
    store: await openStore(database),
    now: () => new Date(),
    log,
  });
  const server = createServer(listener);
  server.listen({ port: 0, host: '127.0.0.1', exclusive: true }, () =>
    process.send?.({ port: (server.address() as AddressInfo).port }),
  );
}
