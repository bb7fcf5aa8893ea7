import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Filled, FillRequest } from './fill-job.ts';

/** This checkout. */
export const OWN_ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export function fill(request: FillRequest): Promise<Filled> {
  return new Promise((resolve, reject) => {
    const job = new URL('./fill-job.ts', import.meta.url);
    const child = fork(job, [JSON.stringify(request)]);
    let filled: Filled | undefined;
    child.once('message', (message) => {
      filled = message as Filled;
    });
    child.once('exit', (code) => {
      if (filled === undefined) reject(new Error(`A fill ended with ${code} and no result.`));
      else resolve(filled);
    });
  });
}
