import { connect, type Socket } from 'node:net';
import type { Measured } from './cpu.ts';

const CONNECTIONS = 10;
const WARM_UP = 4_000;
const HEAD_END = Buffer.from('\r\n\r\n');

interface Load {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The number of measured requests. */
  readonly amount: number;
  /** The status that every answer must have; otherwise the result is invalid. */
  readonly status: number;
}

/** Microseconds of the server's CPU for one request, after a warm-up. */
export async function cpuPerRequest(server: Measured, load: Load): Promise<number> {
  await send(server, { ...load, amount: Math.min(WARM_UP, load.amount) });
  const before = await server.cpuMicros();
  await send(server, load);
  return ((await server.cpuMicros()) - before) / load.amount;
}

/**
 * Sends the requests on a few keep-alive connections, one after another on each. The client does little with
 * an answer and never sleeps: waking a sleeping client on the same machine would be charged to the server,
 * and more to the slower one.
 */
async function send({ url }: Measured, load: Load): Promise<void> {
  const share = Math.ceil(load.amount / CONNECTIONS);
  const wake = stayAwake();
  await Promise.all(Array.from({ length: CONNECTIONS }, () => sendOn(new URL(url), load, share)));
  wake.stop();
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

async function sendOn(url: URL, load: Load, amount: number): Promise<void> {
  const request = toRequest(url, load);
  const socket = connect(Number(url.port), url.hostname).setNoDelay(true);
  for (let sent = 0; sent < amount; sent++) {
    socket.write(request);
    const answer = await readAnswer(socket);
    if (!hasStatus(answer, load.status)) throw toError(load, answer);
  }
  socket.end();
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

function toRequest({ host }: URL, { path, headers }: Load): string {
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

function hasStatus(answer: Buffer, status: number): boolean {
  return answer.toString('latin1', 9, 12) === `${status}`;
}

function toError({ path }: Load, answer: Buffer): Error {
  return new Error(`${path} answered ${answer.toString('latin1', 0, 15)}`);
}

function isWhole(answer: Buffer): boolean {
  const head = answer.indexOf(HEAD_END);
  if (head === -1) return false;
  const length = /content-length: (\d+)/i.exec(answer.toString('latin1', 0, head))?.[1] ?? '0';
  return answer.length >= head + HEAD_END.length + Number(length);
}
