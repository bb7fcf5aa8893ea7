/**
 * What starting costs: the CPU time of whole processes compared with an empty Node, how soon a server is ready,
 * and its memory when it is idle; for the checkout and for the installed package.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { print } from './print.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BIN = 'bin/plumbline.js';
/** The cheapest of several rounds counts, because other work of the machine can only add time. */
const ROUNDS = 15;
const SERVER_ROUNDS = 5;
const IDLE_MS = 2_000;
const GOALS = { help: 2.5, list: 4, readySeconds: 0.8, idleMb: 130 };

/** `installed` is a folder in which the package is installed; without it, the package is made and installed. */
export async function benchStart(installed?: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-bench-'));
  try {
    const at = installed ?? install(folder);
    const bins = {
      checkout: join(ROOT, BIN),
      package: join(at, 'node_modules/plumbline', BIN),
    };
    const env = { ...process.env, PLUMBLINE_DATABASE: join(folder, 'a.db'), PLUMBLINE_PORT: '0' };
    run([bins.checkout, 'account', 'create', 'A'], env);
    print(`\nInstalled: ${sizeOf(at)}`);
    benchCommands(bins, env);
    for (const [name, bin] of Object.entries(bins)) await benchServer(name, bin, env);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function install(folder: string): string {
  const pack = ['pack', '--silent', '--pack-destination', folder];
  const [tarball = ''] = execFileSync('npm', pack, { cwd: ROOT, encoding: 'utf8' })
    .trim()
    .split('\n')
    .slice(-1);
  const empty = join(folder, 'installed');
  mkdirSync(empty);
  execFileSync('npm', ['install', '--silent', join(folder, tarball)], { cwd: empty });
  return empty;
}

function sizeOf(folder: string): string {
  const count = 'du -sm node_modules | cut -f 1; find node_modules -type f | wc -l';
  const [mb, files] = execFileSync('sh', ['-c', count], { cwd: folder, encoding: 'utf8' }).split(
    '\n',
  );
  return `${mb} MB in ${files?.trim()} files`;
}

function benchCommands(bins: Record<string, string>, env: NodeJS.ProcessEnv): void {
  const cases: [string, readonly string[], number][] = [['node -e 1', ['-e', '1'], 1]];
  for (const [name, bin] of Object.entries(bins)) {
    cases.push([`--help, ${name}`, [bin, '--help'], GOALS.help]);
    cases.push([`account list, ${name}`, [bin, 'account', 'list'], GOALS.list]);
  }
  // The first run of each keeps the compiled code for the others.
  for (const [, args] of cases) run(args, env);
  const times = cases.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, [, args]] of cases.entries()) times[i]?.push(run(args, env));
  const least = times.map((all) => Math.min(...all));
  print('CPU of a whole process (ms, user and system)');
  for (const [i, [name, , goal]] of cases.entries()) {
    const [cpu = 0, bare = 1] = [least[i], least[0]];
    print(
      `  ${name.padEnd(24)} ${cpu.toFixed(0).padStart(5)}  ${(cpu / bare).toFixed(2)} × (goal ≤ ${goal} ×)`,
    );
  }
}

/** CPU milliseconds of a process. Node does not tell them of a child; bash does. */
function run(args: readonly string[], env: NodeJS.ProcessEnv): number {
  const timed = `TIMEFORMAT='%3U %3S'; time "$@" >/dev/null 2>/dev/null`;
  const bash = ['-c', timed, 'bash', process.execPath, ...args];
  const { stderr } = spawnSync('bash', bash, { env, encoding: 'utf8' });
  const [user = 0, system = 0] = stderr.trim().split(' ').map(Number);
  return (user + system) * 1000;
}

async function benchServer(name: string, bin: string, env: NodeJS.ProcessEnv): Promise<void> {
  const ready: number[] = [];
  const idle: number[] = [];
  for (let round = 0; round < SERVER_ROUNDS; round++) {
    const measured = await startServer(bin, env);
    ready.push(measured.readySeconds);
    idle.push(measured.idleMb);
  }
  const [seconds, mb] = [Math.min(...ready).toFixed(2), Math.max(...idle).toFixed(0)];
  print(
    `serve, ${name}: ready in ${seconds} s (goal ≤ ${GOALS.readySeconds} s), ${mb} MB when idle (goal ≤ ${GOALS.idleMb} MB)`,
  );
}

async function startServer(bin: string, env: NodeJS.ProcessEnv) {
  const startedAt = performance.now();
  const server = spawn(process.execPath, [bin, 'serve', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(server.stdout, 'data');
  const readySeconds = (performance.now() - startedAt) / 1000;
  const { url } = JSON.parse(String(line));
  await fetch(`${url}/v1/external/domains`).then((answer) => answer.text());
  await sleep(IDLE_MS);
  const idleMb = memoryOf(server.pid ?? 0) / 1024;
  server.kill('SIGTERM');
  await once(server, 'exit');
  return { readySeconds, idleMb };
}

/** Kilobytes of resident memory. */
function memoryOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
