/** A revision from before, which requests for the API are compared with in the same run. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type Checkout, OWN } from './checkout.ts';
import { print } from './compare.ts';

/** With the last release the bars of the next one rise: this is the newest revision before the schema began anew. */
const REVISION = process.env['BENCH_FORMER'] ?? '8779832f';

/** Checked out into a folder, with its packages; undefined when it cannot be. */
export function checkOutFormer(folder: string): Checkout | undefined {
  const root = join(folder, 'former');
  const steps = [
    ['git', 'clone', '--quiet', OWN.root, root],
    ['git', '-C', root, 'checkout', '--quiet', REVISION],
    ['npm', 'ci', '--silent', '--prefix', root],
  ] as const;
  if (steps.every(([command, ...args]) => spawnSync(command, args).status === 0))
    return { name: `former release ${REVISION}`, root };
  print(`${REVISION} is left out: it could not be checked out here.`);
  return undefined;
}
