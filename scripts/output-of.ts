import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

interface Ended {
  readonly status: number | null;
  readonly output: string;
}

/** Waits until a program has ended; returns its output and its errors in the order in which they came. */
export async function outputOf(
  child: ChildProcessByStdio<null, Readable, Readable>,
  onOutput: (text: string) => void = () => {},
): Promise<Ended> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      onOutput(text);
    });
  }
  const [status] = await once(child, 'close');
  return { status, output };
}
