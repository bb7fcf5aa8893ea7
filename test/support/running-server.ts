import pino from 'pino';
import { onTestFinished } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { startServer } from '../../src/http/server.ts';
import { openStore } from '../../src/store/engine/open.ts';

const SILENT = pino({ level: 'silent' });

/** The server as `plumbline serve` starts it, on a free port, without limits, until the test ends. */
export async function runServer(environment: Readonly<Record<string, string>> = {}) {
  const config = readConfig({
    PLUMBLINE_DATABASE: ':memory:',
    PLUMBLINE_PORT: '0',
    PLUMBLINE_REQUESTS_PER_IP: '1000000000',
    PLUMBLINE_REQUESTS_PER_KEY: '1000000000',
    ...environment,
  });
  const store = await openStore(config.database);
  const server = await startServer(config, { store, log: SILENT });
  onTestFinished(async () => {
    await server.stop();
    await store.close();
  });
  return { server, store };
}
