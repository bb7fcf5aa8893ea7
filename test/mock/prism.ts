import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LISTENS = /Prism is listening on (\S+)/;

/** A mock server, started as `npm run mock` starts it, on a free port. */
export async function startPrism() {
  const child = spawn('npm', ['run', '--silent', 'mock', '--', '--port', '0'], {
    cwd: ROOT,
    // A group of its own: npm does not pass a signal on.
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const stop = async () => {
    process.kill(-(child.pid as number));
    await closed;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const url = LISTENS.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    return { url, stop };
  }
  throw new Error('The mock server has ended.');
}
