import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startAlone } from '../../src/commands/jobs/alone.ts';

/** A lease of one name, as the database gives it. */
class OneLease {
  holder: number | undefined;
  #last = 0;

  claim = async () => {
    if (this.holder !== undefined) return undefined;
    this.#last += 1;
    this.holder = this.#last;
    return this.#last;
  };
  renew = async (claim: number) => this.holder === claim;
  release = async (claim: number) => {
    if (this.holder === claim) this.holder = undefined;
  };
}

function aProcess(leases: OneLease, running: Set<string>, name: string) {
  const work = async (signal: AbortSignal) => {
    running.add(name);
    while (!signal.aborted) await sleep(1);
    running.delete(name);
  };
  const process = startAlone('imap', work, {
    leases,
    logError: () => {},
    pollMs: 5,
    renewMs: 5,
  });
  onTestFinished(process.stop);
  return process;
}

test('Of several processes one does the work, and another goes on when it ends', async () => {
  const [leases, running] = [new OneLease(), new Set<string>()];
  const first = aProcess(leases, running, 'first');
  await expect.poll(() => [...running]).toEqual(['first']);
  aProcess(leases, running, 'second');
  await sleep(30);
  expect([...running]).toEqual(['first']);
  await first.stop();
  await expect.poll(() => [...running]).toEqual(['second']);
});

test('A process that has lost its lease ends the work', async () => {
  const [leases, running] = [new OneLease(), new Set<string>()];
  aProcess(leases, running, 'suspended');
  await expect.poll(() => running.size).toBe(1);
  leases.holder = -1;
  await expect.poll(() => running.size).toBe(0);
});
