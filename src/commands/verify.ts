import type { Command } from 'commander';
import type { Difference } from '../store/verify/figures.ts';
import { repair, verify } from '../store/verify/verify.ts';
import { type Flags, hint, printList } from './output/output.ts';
import { withStore } from './with-store.ts';

const HELP = `
Everything may go on meanwhile. Exit status: 0 when every figure is right, 1 when one is wrong (with --repair: is still
wrong). Without --repair it changes nothing.`;

/** One wrong statement could make every figure wrong. */
const MAX_SHOWN = 1_000;

export function define(command: Command): void {
  command
    .option('--repair', 'write what is right instead; clients that follow such a list begin again')
    .addHelpText('after', HELP)
    .action(async ({ repair: isRepair = false, ...output }: Flags<'repair'>) => {
      const found: ReturnType<typeof toOutput>[] = [];
      await withStore(async (store) => {
        for await (const one of isRepair ? repair(store) : verify(store))
          if (found.push(toOutput(one)) >= MAX_SHOWN) break;
      });
      printList(found, { none: 'Every figure is right.' }, output);
      if (found.some((one) => !('mended' in one && one.mended))) process.exitCode = 1;
      if (found.length >= MAX_SHOWN) hint('There may be more: run it again.', output);
    });
}

function toOutput({ isMended: mended, ...found }: Difference & { readonly isMended?: boolean }) {
  return mended === undefined ? found : { ...found, mended };
}
