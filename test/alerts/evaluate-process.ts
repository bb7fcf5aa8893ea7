/** Evaluates all domains of a database at each time that it is sent. It is a process of its own for tests. */
import { evaluate } from '../../src/alerts/evaluate.ts';
import { DEFAULT_THRESHOLDS as thresholds } from '../../src/domain/alerts/thresholds.ts';
import { listWatchedDomainIds } from '../../src/store/domains/domains.ts';
import { openStore } from '../../src/store/engine/open.ts';

const store = await openStore(process.argv[2] ?? '');
const ids = await listWatchedDomainIds(store.db);

process.on('message', async (at: string) => {
  const evaluated = await evaluate({ store, thresholds, now: () => new Date(at) }, ids);
  process.send?.(evaluated);
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
