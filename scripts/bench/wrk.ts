import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Load, Paths } from './paths.ts';

/** One thread with eight connections. Returns the number of requests; throws when one was refused. */
export async function sendByWrk(url: string, load: Load, seconds: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-wrk-'));
  const script = join(folder, 'load.lua');
  await writeFile(script, toScript(load));
  const child = spawn('wrk', [
    '-t1',
    '-c8',
    `-d${seconds}s`,
    '--timeout',
    '30s',
    '-s',
    script,
    url,
  ]);
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  await rm(folder, { recursive: true });
  const sent = Number(/(\d+) requests in/.exec(output)?.[1]);
  if (!(sent > 0) || /Non-2xx|Socket errors/.test(output)) throw new Error(`wrk:\n${output}`);
  return sent;
}

function toScript({ paths, headers }: Load): string {
  const lines = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
  );
  return [...lines, ...toRequest(paths)].join('\n');
}

function toRequest({ kind, path, below, step }: Paths): string[] {
  const format = (offset: string) => `return wrk.format("GET", "${path}"${offset})`;
  if (kind === 'same') return [`request = function() ${format('')} end`];
  if (kind === 'random') {
    // The same offsets for every server.
    return [
      'math.randomseed(7)',
      `request = function() ${format(` .. math.random(0, ${below - 1})`)} end`,
    ];
  }
  return [
    `local at = -${step}`,
    `request = function() at = (at + ${step}) % ${below} ${format(' .. at')} end`,
  ];
}
