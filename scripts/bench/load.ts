/** Requests for the API: each is checked once before their costs are measured. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Server } from './servers.ts';

/** What is asked for, request after request. */
export interface Load {
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Items of each answer: how many, or at least one. A 304 has none. */
  readonly items: number | 'some' | '304';
}

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 2);
const CONNECTIONS = 8;
/** Node compiles code after some thousand requests, however long a busy machine takes for them. */
const WARM_REQUESTS = 8_000;
/** A server that takes milliseconds for each request has compiled its code before them. */
const WARM_ROUNDS = 10;

const hasWrk = spawnSync('wrk', ['-v']).error === undefined;
export const CLIENT = hasWrk ? 'wrk' : 'a client of its own, because there is no wrk';

/** Throws when an answer is not what the load is meant to measure. */
export async function checkAnswers({ url }: Pick<Server, 'url'>, load: Load): Promise<void> {
  const { paths, headers, items } = load;
  for (const path of paths) {
    const answer = await fetch(url + path, { headers });
    const found = countItems(answer.status, await answer.text());
    const isSome = typeof found === 'number' && found > 0;
    if (items === 'some' ? isSome : found === items) continue;
    throw new Error(`${path} answered with ${found} items instead of ${items}.`);
  }
}

/** Of a page its items, of one thing its values. Another status than 200 is the answer. */
function countItems(status: number, body: string): number | string {
  if (status !== 200) return `${status}`;
  const { data } = JSON.parse(body);
  return Array.isArray(data) ? data.length : Object.keys(data).length;
}

export async function warmUp({ url }: Server, load: Load): Promise<void> {
  let sent = 0;
  for (let round = 0; round < WARM_ROUNDS && sent < WARM_REQUESTS; round++)
    sent += await send(url, load);
}

/** Returns the number of requests; throws when one was refused. */
export const send = hasWrk ? sendByWrk : sendByOwnClient;

async function sendByWrk(url: string, { paths, headers }: Load): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-wrk-'));
  const script = join(folder, 'load.lua');
  const lines = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
  );
  lines.push(`local paths, at = { ${paths.map((path) => JSON.stringify(path)).join(', ')} }, 0`);
  lines.push('request = function()', 'at = at % #paths + 1');
  await writeFile(script, [...lines, 'return wrk.format("GET", paths[at])', 'end'].join('\n'));
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${SECONDS}s`, '--timeout', '30s', '-s', script, url];
  const child = spawn('wrk', args);
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  await rm(folder, { recursive: true });
  const sent = Number(/(\d+) requests in/.exec(output)?.[1]);
  if (!(sent > 0) || /Non-2xx|Socket errors/.test(output)) throw new Error(`wrk:\n${output}`);
  return sent;
}

/** Does not sleep while it waits: its waking would be charged to the server, and more to the slower one. */
async function sendByOwnClient(url: string, { paths, headers }: Load): Promise<number> {
  const until = performance.now() + SECONDS * 1_000;
  let sent = 0;
  const stayAwake = () => void (performance.now() < until && setImmediate(stayAwake));
  stayAwake();
  const sendOnOne = async () => {
    while (performance.now() < until) {
      const path = paths[sent % paths.length] ?? '';
      sent += 1;
      const answer = await fetch(url + path, { headers });
      await answer.arrayBuffer();
      if (!answer.ok && answer.status !== 304) throw new Error(`${path} answered ${answer.status}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sendOnOne));
  return sent;
}
