import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../config/config.ts';
import { parseAddress } from '../domain/network-address.ts';
import { OpenConnections } from '../domain/open-connections.ts';
import type { IsTrusted } from './app.ts';

/** A client that has not read its answer until then may lose its connection to another. */
const MAX_ANSWER_MS = 30_000;

/**
 * Closes connections over the limits at once, before a byte is read. Otherwise a few hundred slow connections of one
 * client would use all of the process's file descriptors. Trusted proxies have no limit of their own.
 */
export function limitConnections(
  server: Server,
  { maxConnections, maxConnectionsPerIp }: Config,
  isTrusted: IsTrusted,
): void {
  const connections = new OpenConnections<Socket>();
  const mayOpen = (address: string) =>
    (isTrusted(address) || connections.countOf(address) < maxConnectionsPerIp) &&
    (connections.size < maxConnections || endOne(connections));
  server.on('connection', (socket) => {
    const address = parseAddress(socket.remoteAddress ?? '');
    if (address === undefined || !mayOpen(address)) {
      socket.destroy();
      return;
    }
    connections.open(socket, address, { isTrusted: isTrusted(address) });
    socket.once('close', () => connections.close(socket));
  });
  server.on('request', ({ socket }) => connections.use(socket));
}

/** Whether a place is free then. */
function endOne(connections: OpenConnections<Socket>): boolean {
  const socket = connections.findToEnd(
    (one, silentMs) => !isAnswering(one) || silentMs > MAX_ANSWER_MS,
  );
  if (socket === undefined) return false;
  connections.close(socket);
  socket.destroy();
  return true;
}

/** Node keeps the answer in progress there (client-error.ts). */
const isAnswering = (socket: Socket): boolean =>
  Boolean((socket as { _httpMessage?: object | null })._httpMessage);
