/** The ways in which operators start a server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../free-port.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface Way {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The unit and the container are their variables: .ci/systemd and .ci/container try their other settings. */
export async function listWays(folder = ROOT): Promise<readonly Way[]> {
  const command = [process.execPath, join(folder, 'bin/plumbline.js'), 'serve'];
  const unit = readFileSync(join(ROOT, 'docs/operate/systemd/plumbline.service'), 'utf8');
  const image = readFileSync(join(ROOT, 'docs/operate/container/Containerfile'), 'utf8');
  return [
    { name: 'plumbline serve', command, env: {} },
    {
      name: 'npm start',
      command: ['npm', '--prefix', ROOT, '--silent', 'start'],
      env: {},
    },
    { name: 'the unit', command, env: readAssignments(unit, /^Environment=(.*)$/gm) },
    { name: 'the container', command, env: readAssignments(image, /^ENV (.*)$/gm) },
  ];
}

function readAssignments(text: string, line: RegExp): Record<string, string> {
  const words = [...text.matchAll(line)].flatMap(([, words = '']) => words.split(' '));
  return Object.fromEntries(words.map((word) => word.split(/=(.*)/s, 2)));
}

export async function start({ command, env }: Way, database: string) {
  const [program = '', ...args] = command;
  const port = await findFreePort();
  const child = spawn(program, args, {
    env: {
      ...{ PATH: process.env['PATH'], HOME: process.env['HOME'] },
      ...env,
      ...{ PLUMBLINE_DATABASE: database, PLUMBLINE_HOST: '127.0.0.1', PLUMBLINE_PORT: `${port}` },
      ...{ PLUMBLINE_REQUESTS_PER_KEY: '1000000', PLUMBLINE_REQUESTS_PER_IP: '1000000' },
      PLUMBLINE_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) if (line.includes('listens on')) break;
  child.stdout.resume();
  return {
    url: `http://127.0.0.1:${port}`,
    measure: () => ({
      now: readMegabytes(child.pid, 'VmRSS'),
      peak: readMegabytes(child.pid, 'VmHWM'),
    }),
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}

/** npm itself goes on beside the server, which has more. */
function readMegabytes(pid: number | undefined, name: 'VmRSS' | 'VmHWM'): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1');
  const sizes = [pid, ...children.trim().split(' ')].filter(Boolean).map((one) => {
    const status = readFileSync(`/proc/${one}/status`, 'latin1');
    return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]);
  });
  return Math.round(Math.max(...sizes) / 1_024);
}
