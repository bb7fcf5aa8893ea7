import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isGone, nameHolder } from '../../../src/store/work/holder.ts';

/** A process that runs until it is killed. */
async function aProcess() {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  const kill = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return { pid: child.pid as number, kill };
}

/** The name with another value in one of its places. */
const change = (name: string, place: number, value: string) =>
  name.split(' ').with(place, value).join(' ');

describe.runIf(process.platform === 'linux')('a holder', () => {
  test('is gone when its process was killed, and not before', async () => {
    const { pid, kill } = await aProcess();
    const name = nameHolder(pid);
    expect([isGone(name), isGone(nameHolder())]).toEqual([false, false]);
    await kill();
    expect(isGone(name)).toBe(true);
  });

  test('is gone when its number is that of another process by now', () => {
    expect(isGone(change(nameHolder(), 2, '1'))).toBe(true);
  });

  test('is gone when nobody has asked how its process ended', async () => {
    // The shell becomes a program that never asks.
    const script = 'cat <&3 >/dev/null & echo $!; exec sleep 600 3<&-';
    const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const [pid] = await once(parent.stdout as NodeJS.ReadableStream, 'data');
    const name = nameHolder(Number(pid));
    expect(isGone(name)).toBe(false);
    (parent.stdio[3] as Writable).end();
    await expect.poll(() => isGone(name)).toBe(true);
  });

  test('of another machine, boot or container may run, whatever has its number here', async () => {
    const { pid, kill } = await aProcess();
    const name = nameHolder(pid);
    await kill();
    const [boot, namespace] = (name.split(' ')[0] as string).split('/');
    expect(isGone(name)).toBe(true);
    expect(isGone(change(name, 0, `another-boot/${namespace}`))).toBe(false);
    expect(isGone(change(name, 0, `${boot}/pid:[1]`))).toBe(false);
  });

  test('that runs as another user, or has a name of another kind, is not gone', () => {
    expect(isGone(nameHolder(1))).toBe(false);
    for (const name of ['', 'worker-7', '5d1c0a3e-8a57-4d8e-9d5f-1f3b2a4c6d7e'])
      expect(isGone(name)).toBe(false);
  });
});

test('names are different', () => {
  expect(nameHolder()).not.toBe(nameHolder());
});
