import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A port that leads to another one, and can lose all its connections. */
export async function anUnreliableNetwork(target: number) {
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((socket) => {
    const other = track(connect(target, '127.0.0.1'));
    track(socket).pipe(other).pipe(socket);
    socket.once('close', () => other.destroy());
    other.once('close', () => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    server.close();
    breakAll();
  });
  return { port: (server.address() as AddressInfo).port, breakAll };
}
