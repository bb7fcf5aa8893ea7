import { fork } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { JobResult } from './intake-job.ts';

/**
 * Runs intake work on a folder in a process of its own, by default with a SQLite database beside the folder; of this
 * checkout, or of the one in another folder.
 */
export function runJob(
  kind: 'ingest' | 'bare',
  folder: string,
  database = `${folder}-${kind}.db`,
  root?: string,
): Promise<JobResult> {
  return new Promise((resolve, reject) => {
    const own = new URL('./intake-job.ts', import.meta.url);
    const job = root === undefined ? own : join(root, 'scripts/bench/intake-job.ts');
    const child = fork(job, [kind, folder, database], {
      execArgv: ['--expose-gc'],
      // As in bin/plumbline.js, compiled code is kept from one process to the next.
      env: { ...process.env, NODE_COMPILE_CACHE: join(dirname(folder), 'compiled') },
    });
    let result: JobResult | undefined;
    child.once('message', (message) => {
      result = message as JobResult;
    });
    child.once('exit', (code) => {
      if (result === undefined) reject(new Error(`A job ended with ${code} and no result.`));
      else resolve(result);
    });
  });
}

export function toText({ outcomes }: JobResult): string {
  return Object.entries(outcomes)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}
