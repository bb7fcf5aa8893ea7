import { execFileSync } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { aFolder } from './command.ts';

/** The folder of a small file system of its own, until the end of the test. As root; it throws when it cannot be mounted. */
export async function aDisk(megabytes: number): Promise<string> {
  const disk = await aFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', disk]);
  onTestFinished(() => void execFileSync('umount', ['--lazy', disk]));
  return disk;
}
