import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { aCommand, printed } from '../support/command.ts';
import { RawClient } from '../support/raw-http.ts';
import { runServer } from '../support/running-server.ts';

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';

/** Connections that never send a whole request, and a count of those that the server has closed. */
async function holdOpen(url: string, count: number, from = '127.0.0.1') {
  const { port } = new URL(url);
  const ended = new Set<Socket>();
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: from });
    socket
      .on('error', () => undefined)
      .on('close', () => ended.add(socket))
      .resume();
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write('GET /healthz HTTP/1.1\r\nHos');
  }
  const close = () => Promise.all(sockets.map((socket) => end(socket)));
  onTestFinished(async () => void (await close()));
  return { ended, close };
}

async function end(socket: Socket): Promise<void> {
  if (socket.destroyed) return;
  const closed = once(socket, 'close');
  socket.destroy();
  await closed;
}

const isServed = async (url: string) =>
  (await new RawClient(url).send(HEALTH).catch(() => undefined))?.status === 200;

describe('slow sockets', () => {
  test('of 450 connections from one address, all but ten are closed at once, and others can connect', async () => {
    const { server } = await runServer({ PLUMBLINE_MAX_CONNECTIONS_PER_IP: '10' });
    const { ended } = await holdOpen(server.url, 450, '127.0.0.2');
    await expect.poll(() => ended.size).toBe(440);
    expect(await isServed(server.url)).toBe(true);
  });

  test('an address that has closed its connections may open new ones', async () => {
    const { server } = await runServer({ PLUMBLINE_MAX_CONNECTIONS_PER_IP: '3' });
    const { ended, close } = await holdOpen(server.url, 4);
    await expect.poll(() => ended.size).toBe(1);
    expect(await isServed(server.url)).toBe(false);
    await close();
    await expect.poll(() => isServed(server.url)).toBe(true);
  });

  test('a trusted proxy has only the total limit', async () => {
    const { server } = await runServer({
      PLUMBLINE_TRUSTED_PROXIES: '127.0.0.0/8',
      PLUMBLINE_MAX_CONNECTIONS_PER_IP: '3',
      PLUMBLINE_MAX_CONNECTIONS: '12',
    });
    const { ended } = await holdOpen(server.url, 15);
    await expect.poll(() => ended.size).toBe(3);
  });

  test('of some addresses with all connections keep nobody else out, and end none of theirs', async () => {
    const { server } = await runServer({
      PLUMBLINE_MAX_CONNECTIONS_PER_IP: '10',
      PLUMBLINE_MAX_CONNECTIONS: '30',
    });
    const { ended: other } = await holdOpen(server.url, 1, '127.0.9.9');
    const { ended } = await holdOpen(server.url, 10, '127.0.2.1');
    await holdOpen(server.url, 10, '127.0.3.1');
    await holdOpen(server.url, 9, '127.0.4.1');
    for (let i = 0; i < 5; i += 1) expect(await isServed(server.url)).toBe(true);
    expect(ended.size).toBeGreaterThan(0);
    expect(other.size).toBe(0);
  });

  test('a client that does not send its headers gets an error after seconds, and is disconnected', async () => {
    const { server } = await runServer();
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write('GET /healthz HTTP/1.1\r\nHos');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 408 /);
    socket.destroy();
    // Node itself would wait for a minute.
  }, 50_000);

  test('a form that does not come to its end gets an error after fifteen seconds, and an upload goes on', async () => {
    const { server } = await runServer();
    const send = async (path: string) => {
      const socket = await openAt(server.url);
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: a\r\nOrigin: http://a\r\nContent-Length: 99\r\n`,
      );
      socket.write('Content-Type: application/x-www-form-urlencoded\r\n\r\na=b');
      return socket;
    };
    const upload = await send('/settings/account/uploads?form_token=x');
    const form = await send('/settings/sign-in');
    const [answer] = await once(form, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 408 /);
    expect([upload.destroyed, upload.bytesRead]).toEqual([false, 0]);
  });

  /** Longer than headers may take. */
  const STALL_MS = 7_000;

  test('after a stall, a request that arrived whole meanwhile is answered, and one that did not is late', async () => {
    const { start } = await aCommand();
    const server = start('serve');
    onTestFinished(() => void server.kill('SIGKILL'));
    const log = await printed(server, /http:\/\/[\d.]+:\d+/);
    const url = /http:\/\/[\d.]+:\d+/.exec(log)?.[0] as string;
    const [whole, slow] = [await openAt(url), await openAt(url)];
    // Connections are accepted in their order: both others are, once this one is answered.
    expect(await isServed(url)).toBe(true);
    server.kill('SIGSTOP');
    whole.write(HEALTH);
    slow.write('GET /healthz HTTP/1.1\r\nHos');
    await wait(STALL_MS);
    server.kill('SIGCONT');
    const answers = await Promise.all([once(whole, 'data'), once(slow, 'data')]);
    const statuses = answers.map(([answer]) => String(answer).slice(0, 12));
    expect(statuses).toEqual(['HTTP/1.1 200', 'HTTP/1.1 408']);
  });
});

async function openAt(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}
