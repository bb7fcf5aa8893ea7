import { Agent, get } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** A request that is sent again and again. */
export interface Polled {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
  /** Throws when the body is wrong. */
  readonly check?: (body: string) => void;
}

/** Milliseconds from when each request was due until its answer was complete, in ascending order. */
export type Latencies = readonly number[];

/** 100 requests a second: far from what the server can do, so that only what else runs makes it slower. */
const EVERY_MS = 10;

/** Sends the requests in turn at a fixed rate until `until` is done, also while earlier ones have no answer. */
export async function poll(
  requests: readonly Polled[],
  until: Promise<unknown>,
): Promise<Latencies[]> {
  const agent = new Agent({ keepAlive: true });
  const latencies = requests.map((): number[] => []);
  const answers: Promise<void>[] = [];
  let isDone = false;
  const ending = until.finally(() => {
    isDone = true;
  });
  const startedAt = performance.now();
  for (let n = 0; !isDone; n++) {
    const dueAt = startedAt + n * EVERY_MS;
    await sleep(Math.max(0, dueAt - performance.now()));
    const which = n % requests.length;
    const answered = send(requests[which] as Polled, agent);
    answers.push(answered.then(() => void latencies[which]?.push(performance.now() - dueAt)));
  }
  await Promise.all([ending, ...answers]);
  agent.destroy();
  return latencies.map((all) => all.sort((a, b) => a - b));
}

function send({ url, headers, status, check }: Polled, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = get(url, { headers, agent }, (answer) => {
      if (answer.statusCode !== status) reject(new Error(`${url} answered ${answer.statusCode}`));
      if (check === undefined) answer.resume().once('end', resolve);
      else text(answer).then(check).then(resolve, reject);
    });
    sent.once('error', reject);
  });
}

export function percentile(latencies: Latencies, share: number): number {
  return (
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN
  );
}
