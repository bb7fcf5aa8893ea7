import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';

/** How long a connection without a request may still bring one, after the server no longer listens. */
const IDLE_MS = 1_000;
/** How long answers in progress may take, after the server no longer listens. */
const STOP_TIMEOUT_MS = 10_000;
const SWEEP_MS = 50;

/**
 * Lets a server stop without losing a request. Is called before the server gets its listener. When it stops, every
 * answer has `Connection: close` (RFC 9112, 9.6), so that clients open their next connection elsewhere. For `delayMs`
 * the server goes on listening, so that a load balancer sees that it is not ready. Then it accepts what waits, and listens no more. Connections
 * without a request are closed a second later: if they were closed at once, requests that are on their way would be lost.
 */
export function prepareStop(server: Server, delayMs: number) {
  let stopped: Promise<void> | undefined;
  const isStopping = () => stopped !== undefined;
  server.on('request', (_req, res) => {
    if (isStopping()) res.shouldKeepAlive = false;
  });
  return {
    isStopping,
    /** A start that fails stops without the delay. */
    stop: (waitMs = delayMs) => {
      stopped ??= stop(server, waitMs);
      return stopped;
    },
  };
}

async function stop(server: Server, delayMs: number): Promise<void> {
  if (delayMs > 0) await wait(delayMs);
  let sweep: NodeJS.Timeout | undefined;
  const closeIdle = () => {
    sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  };
  const idle = setTimeout(closeIdle, IDLE_MS);
  const deadline = setTimeout(() => server.closeAllConnections(), STOP_TIMEOUT_MS);
  await acceptWaiting(server);
  // The method of an HTTP server closes idle connections at once.
  await new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
  clearTimeout(idle);
  clearInterval(sweep);
  clearTimeout(deadline);
  // Ends the timer that looks for late requests.
  server.close();
}

/** A client whose connection the full queue refused tries again after 200 ms. */
const ACCEPT_MS = 500;

/**
 * When a server closes, the system resets the connections in its queue, from which Node accepts one in a turn of its loop. So the
 * queue is cut to one connection; it is empty once that one was accepted, or once a turn has accepted none.
 */
async function acceptWaiting(server: Server): Promise<void> {
  const { _handle } = server as { _handle?: { listen(backlog: number): number } };
  _handle?.listen(0);
  await wait(ACCEPT_MS);
  await Promise.race([once(server, 'connection'), nextTurn().then(() => nextTurn())]);
}
