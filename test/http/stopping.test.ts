import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { prepareStop } from '../../src/http/stopping.ts';

test('connections that wait to be accepted when a server stops were reset: each gets its answer', async () => {
  const server = createServer();
  const { stop } = prepareStop(server, 0);
  server.on('request', (_req, res) => res.end('answered'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ask = () =>
    new Promise<string>((resolve) => {
      get({ port, host: '127.0.0.1', agent: false }, (res) =>
        res.on('data', (text) => resolve(String(text))),
      ).once('error', ({ message }) => resolve(message));
    });
  const asked = Array.from({ length: 100 }, ask);
  // They connect then, and none is accepted before the loop has turned.
  await new Promise(process.nextTick);
  const stopped = stop();
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['answered']));
  await stopped;
});
