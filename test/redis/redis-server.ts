import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'redis';
import { onTestFinished } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { readConfig } from '../../src/config/config.ts';
import type { RedisConfig } from '../../src/config/redis.ts';

export type Redis = Awaited<ReturnType<typeof aRedis>>;

/** A redis-server of its own on a free port of this machine, without a disk, until the test ends. */
export async function aRedis(toOptions: (port: number) => string[] = toPort) {
  const port = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-redis-'));
  let child: ChildProcess | undefined;
  const start = async () => {
    const options = ['--bind', '127.0.0.1', '--save', '', '--dir', folder, ...toOptions(port)];
    child = spawn('redis-server', options, { stdio: ['ignore', 'ignore', 'ignore'] });
    await untilListening(port, child);
  };
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  onTestFinished(async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  });
  await start();
  return {
    port,
    start,
    kill,
    config: toConfig(port),
    stop: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    /** A command of the operator, on a connection of its own. */
    send: (...command: string[]) => sendOnce(port, command),
  };
}

export function toConfig(port: number): RedisConfig {
  return readConfig({ PLUMBLINE_REDIS: `redis://127.0.0.1:${port}` }).redis as RedisConfig;
}

const toPort = (port: number) => ['--port', `${port}`];

async function untilListening(port: number, child: ChildProcess): Promise<void> {
  const failed = once(child, 'error').then(([error]) => Promise.reject(error));
  failed.catch(() => {});
  while (!(await isListening(port))) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
    await Promise.race([sleep(20), failed]);
  }
}

function isListening(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).then((is) => {
    socket.destroy();
    return is as boolean;
  });
}

async function sendOnce(port: number, command: string[]) {
  const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: false } });
  client.on('error', () => {});
  await client.connect();
  try {
    return await client.sendCommand<string | number | string[]>(command);
  } finally {
    client.destroy();
  }
}
