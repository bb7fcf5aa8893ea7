import type { Server } from 'node:http';
import type { Config } from '../config/config.ts';
import { parseAddress, toClientNetwork } from '../domain/client-address.ts';
import type { App } from './app.ts';

/**
 * Closes connections over the limits at once, before a byte is read. Otherwise a few hundred slow connections of one
 * client would use all of the process's file descriptors. Trusted proxies have no limit of their own.
 */
export function limitConnections(
  server: Server,
  { maxConnections, maxConnectionsPerIp }: Config,
  isTrusted: App['isTrusted'],
): void {
  const open = new Map<string, number>();
  server.maxConnections = maxConnections;
  server.on('connection', (socket) => {
    const address = parseAddress(socket.remoteAddress ?? '');
    if (address === undefined || isTrusted(address)) return;
    const key = toClientNetwork(address);
    const count = open.get(key) ?? 0;
    if (count >= maxConnectionsPerIp) {
      socket.destroy();
      return;
    }
    open.set(key, count + 1);
    socket.once('close', () => release(open, key));
  });
}

function release(open: Map<string, number>, key: string): void {
  const left = (open.get(key) ?? 0) - 1;
  if (left > 0) open.set(key, left);
  else open.delete(key);
}
