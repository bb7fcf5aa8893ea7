import { connect, type Socket } from 'node:net';
import type { Load, Paths } from './paths.ts';

const CONNECTIONS = 8;
const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * Sends requests on a few keep-alive connections, one after another on each. The client does little with an
 * answer and never sleeps. Returns the number of requests; throws when one was refused.
 */
export async function sendByOwnClient(url: string, load: Load, seconds: number): Promise<number> {
  const until = performance.now() + seconds * 1_000;
  const next = toPaths(load.paths);
  const wake = stayAwake();
  const sent = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => sendOn(new URL(url), { load, next, until })),
  );
  wake.stop();
  return sent.reduce((sum, count) => sum + count, 0);
}

function toPaths({ kind, path, below, step }: Paths): () => string {
  if (kind === 'same') return () => path;
  let at = -step;
  return () => {
    at = kind === 'random' ? Math.floor(Math.random() * below) : (at + step) % below;
    return path + at;
  };
}

function stayAwake() {
  let isAwake = true;
  const turn = () => {
    if (isAwake) setImmediate(turn);
  };
  turn();
  return {
    stop: () => {
      isAwake = false;
    },
  };
}

interface Sending {
  readonly load: Load;
  readonly next: () => string;
  readonly until: number;
}

async function sendOn(url: URL, { load, next, until }: Sending): Promise<number> {
  const socket = connect(Number(url.port), url.hostname).setNoDelay(true);
  let sent = 0;
  for (; performance.now() < until; sent++) {
    const path = next();
    socket.write(toRequest(url, path, load));
    const answer = await readAnswer(socket);
    const status = answer.toString('latin1', 9, 12);
    if (status !== '200' && status !== '304') throw new Error(`${path} answered ${status}`);
  }
  socket.end();
  return sent;
}

function readAnswer(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    const onData = (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      if (!isWhole(received)) return;
      socket.off('data', onData).off('error', reject);
      resolve(received);
    };
    socket.on('data', onData).once('error', reject);
  });
}

function toRequest({ host }: URL, path: string, { headers }: Load): string {
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

function isWhole(answer: Buffer): boolean {
  const head = answer.indexOf(HEAD_END);
  if (head === -1) return false;
  const length = /content-length: (\d+)/i.exec(answer.toString('latin1', 0, head))?.[1] ?? '0';
  return answer.length >= head + HEAD_END.length + Number(length);
}
