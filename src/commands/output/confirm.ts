import { createInterface } from 'node:readline/promises';
import { Failure } from '../../domain/failure.ts';
import { UsageError } from './report-error.ts';

/** Asks on the terminal before something goes for good. Throws when the answer is not the wanted one. */
export async function confirm(sentence: string, wanted: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw new UsageError(
      `${sentence} Nothing was deleted: there is no terminal to ask on. Use --yes.`,
    );
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(`${sentence}\nType ${wanted} to go on: `);
    if (answer.trim() !== wanted) throw new Failure('conflict', 'Nothing was deleted.');
  } finally {
    lines.close();
  }
}
