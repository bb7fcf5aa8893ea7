import { spawnSync } from 'node:child_process';
import type { Measured } from './cpu.ts';
import { sendByOwnClient } from './own-client.ts';
import type { Load } from './paths.ts';
import { sendByWrk } from './wrk.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 2);

/**
 * wrk, where there is one. A client that sleeps while it waits would have its waking charged to the server, and
 * more to the slower one.
 */
const hasWrk = spawnSync('wrk', ['-v']).error === undefined;
const send = hasWrk ? sendByWrk : sendByOwnClient;
export const CLIENT = hasWrk ? 'wrk' : 'a client of its own, because there is no wrk';

/** Microseconds of CPU for one request: of the server, and of a database server. */
export interface Cost {
  readonly micros: number;
  readonly elsewhere: number;
}

/** Node compiles code after some thousand requests, however long a busy machine takes for them. */
const WARM_REQUESTS = 8_000;
/** A server that takes milliseconds for each request has compiled its code before them. */
const WARM_ROUNDS = 10;

/** Sends requests that are not measured. */
export async function warmUp(server: Measured, load: Load): Promise<void> {
  let sent = 0;
  for (let round = 0; round < WARM_ROUNDS && sent < WARM_REQUESTS; round++)
    sent += await send(server.url, load, SECONDS);
}

export async function cpuPerRequest(
  server: Measured,
  load: Load,
  readElsewhere: () => number,
): Promise<Cost> {
  const [before, elsewhere] = [await server.usage(), readElsewhere()];
  const sent = await send(server.url, load, SECONDS);
  const after = await server.usage();
  return {
    micros: (after.micros - before.micros) / sent,
    elsewhere: (readElsewhere() - elsewhere) / sent,
  };
}
