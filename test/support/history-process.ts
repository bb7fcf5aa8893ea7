/** Takes steps in the databases that it is given, beside another process that does. */
import { openStore } from '../../src/store/engine/open.ts';
import { type Step, takeBeside } from './histories.ts';

export interface History {
  readonly database: string;
  readonly steps: readonly Step[];
}

process.on('message', async ({ database, steps }: History) => {
  const store = await openStore(database, { maxConnections: 2 });
  for (const taken of steps) await takeBeside(store, taken);
  await store.close();
  process.send?.('done');
});
process.on('disconnect', () => process.exit());
