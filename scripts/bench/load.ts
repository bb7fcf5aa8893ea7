import autocannon from 'autocannon';
import type { Measured } from './cpu.ts';

const CONNECTIONS = 10;
const WARM_UP = 3_000;

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

async function send(server: Measured, { path, headers, amount, status }: Load): Promise<void> {
  const result = await autocannon({
    url: server.url + path,
    headers: { ...headers },
    connections: CONNECTIONS,
    amount,
  });
  const expected = result.statusCodeStats?.[`${status}`]?.count ?? 0;
  if (expected !== amount) {
    throw new Error(`${amount - expected} of ${amount} answers to ${path} were not ${status}.`);
  }
}
