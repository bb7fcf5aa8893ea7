/** `npm run check`: runs every check of `npm test`, as many at a time as there are processors. */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** The longest first. */
const CHECKS = ['types', 'unused', 'lint', 'dependencies', 'drift', 'contract'];

const waiting = CHECKS.values();
const workers = Array.from({ length: availableParallelism() }, async () => {
  for (const name of waiting) await check(name);
});
await Promise.all(workers);

/** Prints the output of a check when it has ended, so that the outputs of two checks are not mixed. */
async function check(name: string): Promise<void> {
  const child = spawn('npm', ['run', '--silent', `check:${name}`]);
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const status = await new Promise((resolve) => child.once('close', resolve));
  process.stdout.write(`── check:${name}${status === 0 ? '' : ' failed'}\n`);
  process.stdout.write(Buffer.concat(chunks));
  if (status !== 0) process.exitCode = 1;
}
