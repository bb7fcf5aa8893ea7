import { connect } from 'node:net';
import type { Measured } from './cpu.ts';

const CONNECTIONS = 10;
const WARM_UP = 8_000;
const HEAD_END = Buffer.from('\r\n\r\n');

interface Load {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How many requests are measured. */
  readonly amount: number;
  /** Every answer must have it, or the figure means nothing. */
  readonly status: number;
}

/** Microseconds of the server's CPU for one request, after a warm-up. */
export async function cpuPerRequest(server: Measured, load: Load): Promise<number> {
  await send(server, { ...load, amount: WARM_UP });
  const before = await server.cpuMicros();
  await send(server, load);
  return ((await server.cpuMicros()) - before) / load.amount;
}

/**
 * Sends the requests on a few connections kept alive, one after another on each. The client does next to
 * nothing with an answer, so that it is the server that is always busy: a server that sleeps between
 * requests pays for being woken, the more the slower its client is.
 */
async function send({ url }: Measured, load: Load): Promise<void> {
  const share = Math.ceil(load.amount / CONNECTIONS);
  await Promise.all(Array.from({ length: CONNECTIONS }, () => sendOn(new URL(url), load, share)));
}

function sendOn({ hostname, port, host }: URL, load: Load, amount: number): Promise<void> {
  const lines = Object.entries({ host, ...load.headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const request = `GET ${load.path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
  const socket = connect(Number(port), hostname).setNoDelay(true);
  return new Promise((resolve, reject) => {
    let left = amount;
    let received = Buffer.alloc(0);
    socket.once('error', reject).on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      if (!isWhole(received)) return;
      if (received.toString('latin1', 9, 12) !== `${load.status}`) {
        socket.destroy(new Error(`${load.path} answered ${received.toString('latin1', 0, 15)}`));
        return;
      }
      received = Buffer.alloc(0);
      left -= 1;
      if (left > 0) socket.write(request);
      else socket.end(resolve);
    });
    socket.write(request);
  });
}

function isWhole(answer: Buffer): boolean {
  const head = answer.indexOf(HEAD_END);
  if (head === -1) return false;
  const length = /content-length: (\d+)/i.exec(answer.toString('latin1', 0, head))?.[1] ?? '0';
  return answer.length >= head + HEAD_END.length + Number(length);
}
