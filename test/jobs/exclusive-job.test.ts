import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startExclusiveJob } from '../../src/jobs/leased-job.ts';
import type { HeldLease } from '../../src/store/work/leases.ts';
import { NOW } from '../support/builders.ts';

/** A lease of one name, as the database gives it. */
class OneLease {
  holder: HeldLease | undefined;

  claim = async ([name = '']: readonly string[]) => {
    if (this.holder !== undefined) return undefined;
    this.holder = { name, claimedAt: NOW };
    return this.holder;
  };
  renew = async (claim: HeldLease) => this.holder === claim;
  release = async (claim: HeldLease) => {
    if (this.holder === claim) this.holder = undefined;
  };
}

function aProcess(leases: OneLease, running: Set<string>, name: string) {
  const work = async (signal: AbortSignal) => {
    running.add(name);
    while (!signal.aborted) await sleep(1);
    running.delete(name);
  };
  const process = startExclusiveJob('imap', work, {
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
  leases.holder = { name: 'imap', claimedAt: NOW };
  await expect.poll(() => running.size).toBe(0);
});
