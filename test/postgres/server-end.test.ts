import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const START = `
  import { startPostgres } from '${new URL('../support/postgres.ts', import.meta.url)}';
  const { folder } = await startPostgres();
  console.log(folder);
  setInterval(() => {}, 1000);`;

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('tests that are killed leave no PostgreSQL server and no data behind', async () => {
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', START], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  const folder = chunk.toString().trim();
  const server = Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]);
  expect(isRunning(server)).toBe(true);
  child.kill('SIGKILL');
  await expect.poll(() => isRunning(server)).toBe(false);
  await expect.poll(() => existsSync(folder)).toBe(false);
});
