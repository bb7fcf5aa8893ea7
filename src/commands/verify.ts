import type { Command } from 'commander';
import { type Difference, verify } from '../store/verify/verify.ts';
import { type OutputOptions, printList } from './output/output.ts';
import { withStore } from './with-store.ts';

const HELP = `
Everything may go on meanwhile. Exit status: 0 when every figure is right, 1 when one is wrong. It changes nothing.`;

/** One wrong statement could make every figure wrong. */
const MAX_SHOWN = 1_000;

export function define(command: Command): void {
  command.addHelpText('after', HELP).action(async (output: OutputOptions) => {
    const found: Difference[] = [];
    await withStore(async (store) => {
      for await (const difference of verify(store)) if (found.push(difference) >= MAX_SHOWN) break;
    });
    const none = 'Every figure is right.';
    printList(found, { none }, output);
    if (found.length > 0) process.exitCode = 1;
  });
}
